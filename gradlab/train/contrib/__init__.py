"""The optimizers of `tf.contrib.opt`, and the clips of `tf.contrib.layers`.

Steps by a rule: `adam_variants`, `signs`, `weight_decay`, `reg_adagrad`, `lars`, `shampoo`,
`delay_compensation`. A step over all variables at once: `ggt`. Around another optimizer:
`moving_average`, `variable_clipping`, `multitask`; with copies of the variables at a center, `agn`,
`elastic_average` and `model_average`. `optimize_loss` has the functions of `tf.contrib.layers`.

`gl.contrib` has the public names.
"""
