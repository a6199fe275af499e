"""Why a row moved, and which traps a step is in."""

__all__: list[str] = []  # what users need of it is in `gl.tpu`


def __dir__() -> list[str]:
    return __all__
