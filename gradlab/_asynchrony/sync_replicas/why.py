"""Why somebody waits, in words, and whether it can ever end."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .tokens import Worker

if TYPE_CHECKING:
    from ..accumulators.deadlock import Wait
    from .exchange import Exchange

CHIEF = "chief"


@dataclass(frozen=True)
class Waiting:
    """Who waits, how many tokens or gradients it needs, how many are there, its place in the queue; all in words."""

    who: Worker
    needs: int
    has: int
    position: int
    text: str


def waiting(x: Exchange) -> Iterator[Waiting]:
    """Everybody who waits: chiefs for gradients, workers for tokens."""
    has = len(x._rounds.contributors)
    for k in range(1, len(x._rounds.waiting) + 1):
        yield Waiting(CHIEF, x._needs, has, k, f"the chief waits for gradients: {gradients(x)}")
    for k, taker in enumerate(x._tokens.takers, 1):
        text = f"worker {taker.worker} waits for a token, number {k} in the queue: {state(x)}"
        yield Waiting(taker.worker, 1, 0, k, text)


def state(x: Exchange) -> str:
    """What the next tokens depend on."""
    if x._chiefs or x._rounds.waiting or x._rounds.served:
        return f"tokens come with the next update: {gradients(x)}"
    return f"no chief is there, start one by `with opt.chief():`; {gradients(x)}"


def gradients(x: Exchange) -> str:
    """What an update needs and what has come."""
    rounds = x._rounds
    text = f"an update needs {x._needs}, {len(rounds.contributors)} have come{_names(rounds.contributors)}"
    if rounds.dropped:
        text += f"; {len(rounds.dropped)} came too late and were dropped{_names(rounds.dropped)}"
    silent = x._crew.present - {t.worker for t in x._tokens.takers}
    return text + (f"; still to push: {_listed(silent)}" if silent else "")


def stuck(x: Exchange, wait: Wait) -> str | None:
    """Why what is waited for can never come, or None where it may."""
    if not _may_push(x):
        gone = _listed(x._crew.gone)
        return f"no worker is left that could push: {state(x)}" + (f"; done for good: {gone}" if gone else "")
    return f"every other thread waits, too: {state(x)}" if wait.is_hopeless() else None


def _may_push(x: Exchange) -> bool:
    """Whether tokens are there, or may come because of a worker or of somebody who is no worker; when in doubt, yes."""
    waiting = [taker.worker for taker in x._tokens.takers if taker.is_patient]
    served = x._rounds.served or len(x._rounds.contributors) >= x._needs
    return bool(served or not x._chiefs or not x._crew.is_known_to_all_wait(waiting, x._local_steps))


def _names(workers: list[Worker]) -> str:
    return f" (from {', '.join(map(str, workers))})" if workers else ""


def _listed(workers: set[Worker]) -> str:
    return ", ".join(sorted(map(str, workers)))
