"""optax's suites, read where optax is installed."""

from tests.originals.suites import Absent, Origin, Suite

ORIGIN = Origin("optax", "0.2.8", "optax")
_NO_PARTS = Absent("gl.optax.scale_by_adam", "optimizers in parts; a rule of gradlab is whole")

SUITES = (
    Suite(
        ORIGIN,
        "optax/transforms/_clipping_test.py",
        "optax",
        absent={
            "ClippingTest.test_unitwise_norm_with_axis": Absent(
                "gl.clip.unitwise_norm",
                "the norms alone; gradlab's adaptive clip keeps them to itself",
            ),
        },
        fails_there={
            "ClippingTest.test_clip_by_block_rms": "seven digits of a float32; optax is 1.2e-7 off too on some machines"
        },
    ),
    Suite(
        ORIGIN,
        "optax/transforms/_accumulation_test.py",
        "optax_steps",
        absent={
            "AccumulationTest.test_ema*": Absent(
                "gl.optax.ema", "a running mean of updates; gl.keras has one of weights"
            ),
            "AccumulationTest.test_skip_*": Absent(
                "gl.optax.skip_not_finite",
                "which updates to leave out; optax's own functions do that around gradlab's",
            ),
            "AccumulationTest.test_multi_steps": _NO_PARTS,
            "AccumulationTest.test_multi_steps_computes_mean": _NO_PARTS,
            "AccumulationTest.test_multi_steps_mixed_precision1": Absent(
                "gl.rules.Adam(mu_dtype)", "a dtype of the mean that is not the weight's"
            ),
        },
    ),
)
