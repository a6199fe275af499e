"""The half of Ray that a run uses, in this process: actors are objects, and act while somebody waits for an answer.

A seed draws who acts next, so that many orders and many deaths cost what one run does among processes. What goes from
one to the other is pickled, as it is there. Ray itself, and nodes, are in test_on_two_nodes.py.
"""

from __future__ import annotations

import io
import pickle
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from types import FunctionType, SimpleNamespace
from typing import Any

import numpy as np


class RayActorError(Exception):
    """Who was asked is dead."""


class ObjectLostError(Exception):
    """What was to be sent is gone."""


class GetTimeoutError(TimeoutError):
    """There is no answer yet."""


class End(BaseException):
    """The end of an actor's process, where it is."""


def end(code: int) -> None:
    """Take the place of `os._exit`."""
    raise End(code)


_functions: dict[int, FunctionType] = {}  # Ray pickles them by value; here they are the same


class _Pickler(pickle.Pickler):
    def persistent_id(self, x: Any) -> int | None:
        if not isinstance(x, FunctionType):
            return None
        _functions[id(x)] = x
        return id(x)


class _Unpickler(pickle.Unpickler):
    def persistent_load(self, x: int) -> FunctionType:
        return _functions[x]


def packed(x: Any) -> bytes:
    """As Ray sends it."""
    file = io.BytesIO()
    _Pickler(file).dump(x)
    return file.getvalue()


def unpacked(data: bytes) -> Any:
    return _Unpickler(io.BytesIO(data)).load()


class Ref:
    """What a call will return, or raise."""

    def __init__(self) -> None:
        self.packed: bytes | None = None
        self.error: BaseException | None = None
        self.is_kept = False  # by who waits for it, and so it is not lost

    @property
    def is_ready(self) -> bool:
        return self.packed is not None or self.error is not None

    def fill(self, value: Any) -> Ref:
        self.packed = packed(value)
        return self

    def value(self) -> Any:
        if self.error is not None:
            raise self.error
        assert self.packed is not None
        return unpacked(self.packed)


def _value(x: Any) -> Any:
    return x.value() if isinstance(x, Ref) else unpacked(packed(x))


class Actor:
    """An object with calls that wait their turn; its methods are called by `remote`."""

    def __init__(self, made: type, arguments: tuple[Any, ...]) -> None:
        self.object: Any = made(*map(_value, arguments))
        self.calls = deque[tuple[str, tuple[Any, ...], tuple[Ref, ...]]]()
        self.alive = True

    def __getattr__(self, method: str) -> Any:
        if method.startswith("__"):
            raise AttributeError(method)
        ask = partial(self._ask, method)
        return SimpleNamespace(remote=ask(1), options=lambda num_returns: SimpleNamespace(remote=ask(num_returns)))

    def _ask(self, method: str, count: int) -> Any:
        def remote(*arguments: Any) -> Any:
            refs = tuple(Ref() for _ in range(count))
            self.calls.append((method, arguments, refs))
            if not self.alive:
                self.die()
            return refs[0] if count == 1 else refs

        return remote

    @property
    def may_act(self) -> bool:
        """Whether it has a call, and that all it needs."""
        return bool(self.calls) and all(x.is_ready for x in self.calls[0][1] if isinstance(x, Ref))

    def act(self) -> None:
        """Make the first call that waits."""
        method, arguments, refs = self.calls[0]
        try:
            found = getattr(self.object, method)(*map(_value, arguments))
        except End:
            self.die()
            return
        except Exception as error:
            for ref in refs:
                ref.error = error
        else:
            for ref, value in zip(refs, (found,) if len(refs) == 1 else found, strict=True):
                ref.fill(value)
        self.calls.popleft()

    def die(self) -> None:
        """End its process: the system closes its files, and whoever waits for it hears of it."""
        if self.alive:
            for held in vars(self.object).values():
                getattr(held, "close", int)()
        self.alive = False
        for _, _, refs in self.calls:
            for ref in refs:
                ref.error = RayActorError()
        self.calls.clear()


class StandIn:
    """The module `ray`."""

    exceptions = SimpleNamespace(
        RayActorError=RayActorError, GetTimeoutError=GetTimeoutError, ObjectLostError=ObjectLostError,
        OutOfMemoryError=RayActorError,
    )  # fmt: skip

    def __init__(self, seed: int = 0) -> None:
        self.rng, self.actors = np.random.default_rng(seed), list[Actor]()
        self.deadly = self.lossy = 0.0  # how likely somebody dies, or something under way is lost, before a call
        self.deaths = self.losses = 0  # so far

    def remote(self, made: type) -> Any:
        def new(*arguments: Any) -> Actor:
            self.actors.append(Actor(made, arguments))
            return self.actors[-1]

        return SimpleNamespace(remote=new, options=lambda **options: SimpleNamespace(remote=new))

    def put(self, value: Any) -> Ref:
        ref = Ref().fill(value)
        ref.is_kept = True
        return ref

    def wait(self, refs: list[Ref], num_returns: int = 1, timeout: float | None = None) -> tuple[list[Ref], list[Ref]]:
        while sum(ref.is_ready for ref in refs) < num_returns and timeout != 0.0 and self._act():
            pass
        ready = [ref for ref in refs if ref.is_ready][:num_returns]
        return ready, [ref for ref in refs if ref not in ready]

    def get(self, ref: Ref, timeout: float | None = None) -> Any:
        if not self.wait([ref], timeout=timeout)[0]:
            raise GetTimeoutError
        return ref.value()

    def kill(self, actor: Actor) -> None:
        """End its process, which half of the time does what it is at first, and is not heard."""
        if actor.alive and actor.may_act and self.rng.random() < 0.5:
            _, _, refs = call = actor.calls[0]
            actor.act()
            for ref in refs:
                ref.packed = None
            if actor.alive:
                actor.calls.appendleft(call)
        actor.die()

    @property
    def alive(self) -> list[Actor]:
        return [actor for actor in self.actors if actor.alive]

    def _act(self) -> bool:
        """Let somebody make a call; False if nobody has one."""
        busy = [actor for actor in self.alive if actor.may_act]
        if not busy:
            return False
        actor = busy[self.rng.integers(len(busy))]
        sent = [x for _, arguments, _ in actor.calls for x in arguments if isinstance(x, Ref) and not x.is_kept]
        if sent and self.rng.random() < self.lossy:
            self.losses += 1
            sent[self.rng.integers(len(sent))].error = ObjectLostError()
        if self.rng.random() < self.deadly:
            self.deaths += 1
            self.kill(actor)
        else:
            actor.act()
        return True

    @contextmanager
    def connected(self, address: str | None = None, timeout: float | None = None) -> Iterator[StandIn]:
        """Take the place of `ray_start.connected`."""
        yield self
