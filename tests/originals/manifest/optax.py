"""optax's suites, read where optax is installed."""

from tests.originals.suites import Absent, Origin, Suite

ORIGIN = Origin("optax", "0.2.8", "optax")

SUITES = (
    Suite(
        ORIGIN,
        "optax/transforms/_clipping_test.py",
        "optax",
        absent={
            "ClippingTest.test_unitwise_norm_with_axis": Absent(
                "gl.clip.unitwise_norm", "the norms alone; gradlab's adaptive clip keeps them to itself"
            ),
        },
        fails_there={
            "ClippingTest.test_clip_by_block_rms": "seven digits of a float32; optax is 1.2e-7 off too on some machines"
        },
    ),
)
