"""tf_keras 2.21's suites, which its package does not hold."""

from tests.originals.suites import Origin, Suite

ORIGIN = Origin("tf_keras", "2.21")
_FOLDER = "tf_keras/optimizers"

SUITES = (
    Suite(ORIGIN, f"{_FOLDER}/schedules/learning_rate_schedule_test.py", "tf_keras"),
    Suite(ORIGIN, f"{_FOLDER}/legacy_learning_rate_decay_test.py", "tf_keras"),
    Suite(ORIGIN, f"{_FOLDER}/legacy/adagrad_test.py", "tf_keras"),
    Suite(ORIGIN, f"{_FOLDER}/legacy/gradient_descent_test.py", "tf_keras"),
    Suite(ORIGIN, f"{_FOLDER}/legacy/optimizer_v2_test.py", "tf_keras"),
    Suite(ORIGIN, f"{_FOLDER}/optimizer_test.py", "tf_keras"),
)
