"""TensorFlow 2.21's namespace with accumulators in gradlab's default mode, which refuses more than
TensorFlow does.
"""

from dataclasses import replace

from tests.originals.stand_ins import tensorflow
from tests.originals.stand_ins.tf_accumulators import default_mode

STAND_IN = replace(tensorflow.STAND_IN, around=default_mode)
