"""The engine behind the operations: state, the order of a step, replicas, and what is loaded and retrieved."""

__all__: list[str] = []  # what users need of it is in `gl.tpu`


def __dir__() -> list[str]:
    return __all__
