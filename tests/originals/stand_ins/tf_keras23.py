"""tf.keras of TensorFlow 2.1: gradlab's Keras optimizers with semantics="tf2.3"."""

from tests.originals.namespaces import Namespace, StandIn
from tests.originals.stand_ins import tf_keras

OPTIMIZERS = tf_keras.optimizers("tf2.3")
NAMES = tf_keras.NAMES | OPTIMIZERS | {"TestCase": tf_keras.CombinedCase}
STAND_IN = StandIn(
    ("tensorflow",),
    Namespace("TensorFlow 2.1", NAMES, tf_keras.WITHIN),
    tf_keras.MODULES | {"function"},
    around=tf_keras.private_names,
)
