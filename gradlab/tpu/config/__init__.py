"""Configurations: messages to plans, rules and shapes, and back; what a configuration says, in words."""

__all__: list[str] = []  # what users need of it is in `gl.tpu`


def __dir__() -> list[str]:
    return __all__
