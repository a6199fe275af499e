"""Loops of two processes, DDP and FSDP2 over gloo: each row against the gradient of the whole batch
by hand.

The table of `test_loops.py` says what must be recorded. Each process has half of the batch, so the
average over both is the gradient of all rows.
"""

from __future__ import annotations

import contextlib
import itertools
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradlab as gl
from tests.record.attach.torch import processes
from tests.record.attach.torch.by_hand import NAMES, ROWS, gradients, loss_of, model, norms
from tests.record.attach.torch.later import torch

pytestmark = pytest.mark.torch

CLIP, STEPS, HALF = 1e-3, 3, ROWS // 2
Result = dict[str, Any]


def rows_of(rank: int) -> slice:
    return slice(rank * HALF, (rank + 1) * HALF)


def recorded(
    net: Any,
    plain: Any,
    rank: int,
    loop: Callable[..., None] | None = None,
    scaled: bool = False,
    **kwargs: Any,
) -> Result:
    """What a recorder has of a loop on `net`, with a GradScaler or without, and the norms of the
    whole batch by hand.

    `plain` has the weights of `net` in each step, in one piece.
    """
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    whole = torch.optim.SGD(plain.parameters(), 0.1)
    expected, entries, counts, weights, squares = [], [], [], [_weights(plain)], []
    scaler = torch.amp.GradScaler("cpu", enabled=scaled)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        kwargs = {"weights": True, **kwargs}
        with gl.record.torch(gl.Recorder(sample_every=1), net, optimizer, **kwargs) as recording:
            for step in range(STEPS):
                net.zero_grad()
                if scaled:
                    scaler.scale(loss_of(net, step, rows_of(rank))).backward()
                else:
                    (loop or _backward)(net, step, rank, recording)
                by_hand = gradients(plain, step)
                expected.append(norms(by_hand))
                squares.append([_square(plain, step, size) for size in (ROWS, HALF, HALF // 2)])
                entries.append(np.concatenate([g.reshape(-1) for g in by_hand]))
                counts.append([g.size for g in by_hand])
                scaler.unscale_(optimizer)
                torch.nn.utils.clip_grad_norm_(net.parameters(), CLIP)
                scaler.step(optimizer)
                scaler.update()
                whole.zero_grad()
                loss_of(plain, step).backward()
                torch.nn.utils.clip_grad_norm_(plain.parameters(), CLIP)
                whole.step()
                weights.append(_weights(plain))
    rec = recording.recorder
    updates = rec.updates()
    return {
        "moved": [updates.weight, updates.update],
        "moves": [
            [norms(w) for w in weights[:-1]],
            [
                norms([a - b for a, b in zip(*pair, strict=True)])
                for pair in itertools.pairwise(weights)
            ],
        ],
        "noises": [_noise_scale(np.array(squares)[:, [0, k]], 2**k) for k in (1, 2)],
        "noise": rec.noise_scale().value if kwargs.get("noise_scale") else None,
        "names": rec.names,
        "expected": expected,
        "entries": entries,
        "counts": counts,
        "norm": rec["norm"],
        "largest": rec["largest"],
        "entry": rec["entry"],
        "nonfinite": rec["nonfinite"],
        "counted": rec["histogram"].sum(-1),
        "warned": [
            str(w.message) for w in caught if issubclass(w.category, gl.errors.RecordingWarning)
        ],
    }


def _weights(net: Any) -> list[np.ndarray]:
    return [p.detach().double().numpy().copy() for p in net.parameters()]


def _square(net: Any, step: int, size: int) -> float:
    """Mean squared norm of the gradients of batches of so many rows."""
    parts = [slice(start, start + size) for start in range(0, ROWS, size)]
    return float(np.mean([np.square(norms(gradients(net, step, rows))).sum() for rows in parts]))


def _noise_scale(squares: np.ndarray, n: int) -> float:
    """From (steps, 2) squares of gradients of the whole batch and of one of n parts."""
    big, small = squares.mean(axis=0)
    return float((small - big) * n / (n * big - small))


def _backward(net: Any, step: int, rank: int, recording: Any) -> None:
    loss_of(net, step, rows_of(rank)).backward()


def _micro_batches(net: Any, step: int, rank: int, recording: Any) -> None:
    """Of which the last alone is averaged over processes, with what the others left."""
    first = rank * HALF
    for start in (first, first + 2):
        with net.no_sync() if start == first else contextlib.nullcontext():
            (loss_of(net, step, slice(start, start + 2)) / 2).backward()


def _averaged_by_hand(net: Any, step: int, rank: int, recording: Any, told: bool = True) -> None:
    _backward(net, step, rank, recording)
    for p in net.parameters():
        torch.distributed.all_reduce(p.grad)
        p.grad /= torch.distributed.get_world_size()
    if told:
        recording.measure()


def _averaged_untold(net: Any, step: int, rank: int, recording: Any) -> None:
    _averaged_by_hand(net, step, rank, recording, told=False)


def ddp_loops(rank: int) -> dict[str, Result]:
    """Every loop of DDP, and those without it."""
    from torch.nn.parallel import DistributedDataParallel as Ddp

    def of(wrapped: Any, loop: Any = None, **kwargs: Any) -> Result:
        return recorded(wrapped, model(), rank, loop, **kwargs)

    inner = model()
    torch._dynamo.config.suppress_errors = False
    found = {
        "plain": of(Ddp(model()), noise_scale=True),
        "a GradScaler": of(Ddp(model()), scaled=True, noise_scale=True),
        "micro-batches": of(Ddp(model()), _micro_batches, noise_scale=True),
        "static graph": of(Ddp(model(), static_graph=True)),
        "gradients as views": of(Ddp(model(), gradient_as_bucket_view=True, bucket_cap_mb=1e-5)),
        "compiled": of(torch.compile(Ddp(model()), backend="aot_eager"), noise_scale=True),
        "a compiled model inside": of(Ddp(torch.compile(model(), backend="aot_eager"))),
        "averaged by hand": of(model(), _averaged_by_hand),
        "averaged by hand, untold": of(model(), _averaged_untold),
    }
    outer = Ddp(inner)
    optimizer = torch.optim.SGD(inner.parameters(), 0.1)
    with gl.record.torch(gl.Recorder(), inner, optimizer) as recording:  # the model inside
        loss_of(outer, 0, rows_of(rank)).backward()
        expected = [norms(gradients(inner, 0))]
        optimizer.step()
    found["attached to the model inside"] = {
        "expected": expected,
        "norm": recording.recorder["norm"],
    }
    return found


def noted_loops(rank: int) -> dict[str, Any]:
    """Losses that each process notes of its half of the batch, and the loss of all rows."""
    from torch.nn.parallel import DistributedDataParallel as Ddp

    found: dict[str, Any] = {}
    for across in (True, False):
        net, whole = Ddp(model()), []
        optimizer = torch.optim.SGD(net.parameters(), 0.1)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            with gl.record.torch(
                gl.Recorder(), net, optimizer, across_processes=across
            ) as recording:
                for step in range(STEPS):
                    whole.append(float(loss_of(net.module, step).detach()))
                    net.zero_grad()
                    loss = loss_of(net, step, rows_of(rank))
                    loss.backward()
                    recording.note(loss=loss)
                    optimizer.step()
        found["across" if across else "own"] = {
            "loss": recording.recorder["loss"].tolist(),
            "whole": whole,
            "warned": [
                str(w.message) for w in caught if issubclass(w.category, gl.errors.RecordingWarning)
            ],
        }
    return found


def skipped_loop(rank: int) -> list[int]:
    """Which steps were skipped, of a loop that leaves out a step in which process 1 alone has NaN."""
    from torch.nn.parallel import DistributedDataParallel as Ddp

    net = Ddp(model())
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    with gl.record.torch(gl.Recorder(), net, optimizer) as recording:
        for step in range(STEPS):
            net.zero_grad()
            (loss_of(net, step, rows_of(rank)) * (np.nan if step == rank == 1 else 1)).backward()
            if torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0).isfinite():
                optimizer.step()
    return recording.recorder["skipped"].tolist()


def all_loops(rank: int) -> dict[str, dict[str, Any]]:
    found: dict[str, Any] = {
        "ddp": ddp_loops(rank),
        "noted": noted_loops(rank),
        "skipped": skipped_loop(rank),
    }
    torch._dynamo.reset()
    return {**found, "fsdp": fsdp_loops(rank)}


@pytest.fixture(scope="module")
def both() -> list[dict[str, dict[str, Any]]]:
    """What all loops left, of each process: to start two takes longer than what they do."""
    return processes.run(all_loops)


@pytest.fixture(scope="module")
def ddp(both: list[dict[str, dict[str, Any]]]) -> list[dict[str, Result]]:
    return [of_rank["ddp"] for of_rank in both]


DDP = [
    "plain",
    "a GradScaler",
    "micro-batches",
    "static graph",
    "gradients as views",
    "compiled",
    "a compiled model inside",
    "averaged by hand",
    "attached to the model inside",
]


@pytest.mark.parametrize("loop", DDP)
def test_ddp(ddp: list[dict[str, Result]], loop: str) -> None:
    for of_rank in ddp:
        result = of_rank[loop]
        np.testing.assert_allclose(result["norm"], result["expected"], 1e-5)
        assert not result.get("warned") and result.get("names", NAMES) == NAMES


@pytest.mark.parametrize("loop", ["plain", "a GradScaler", "micro-batches", "compiled"])
def test_noise_and_updates_of_ddp(ddp: list[dict[str, Result]], loop: str) -> None:
    for of_rank in ddp:
        np.testing.assert_allclose(of_rank[loop]["moved"], of_rank[loop]["moves"], 1e-3)
        assert of_rank[loop]["noise"] == pytest.approx(
            of_rank[loop]["noises"][loop == "micro-batches"], rel=1e-3
        )


def test_averages_by_hand_are_warned_of(ddp: list[dict[str, Result]]) -> None:
    for of_rank in ddp:
        (message,) = of_rank["averaged by hand, untold"]["warned"]
        assert "call measure() of the recording when you have" in message


def test_a_noted_loss_is_of_its_process_or_the_mean_over_all(
    both: list[dict[str, dict[str, Any]]],
) -> None:
    for rank, of_rank in enumerate(both):
        across, own = of_rank["noted"]["across"], of_rank["noted"]["own"]
        np.testing.assert_allclose(across["loss"], across["whole"], rtol=1e-5)
        assert not across["warned"]
        assert not np.allclose(own["loss"], own["whole"], rtol=1e-2)
        (message,) = own["warned"]
        assert (
            f"loss: only the values of process {rank} of 2 are recorded" in message
            and "across_processes=True" in message
        )


def test_a_step_that_all_processes_leave_out_is_a_skipped_row(
    both: list[dict[str, dict[str, Any]]],
) -> None:
    for of_rank in both:
        assert of_rank["skipped"] == [0, 1, 0]


def fsdp_loops(rank: int) -> dict[str, Any]:
    """Every loop of FSDP2, and what is refused."""
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import FullyShardedDataParallel, fully_shard

    def sharded(layers: bool = False, **kwargs: Any) -> Any:
        net = model()
        for layer in (net[0], net[2]) if layers else ():
            fully_shard(layer, **kwargs)
        return fully_shard(net, **kwargs)

    def micro_batches(net: Any, step: int, rank: int, recording: Any) -> None:
        for start in (rank * HALF, rank * HALF + 2):
            net.set_requires_gradient_sync(start != rank * HALF)
            (loss_of(net, step, slice(start, start + 2)) / 2).backward()

    found: dict[str, Any] = {
        "plain": recorded(sharded(), model(), rank),
        "layers": recorded(sharded(True), model(), rank),
        "a GradScaler": recorded(sharded(), model(), rank, scaled=True),
        "micro-batches": recorded(sharded(True), model(), rank, micro_batches),
        "replicated": recorded(
            sharded(mesh=init_device_mesh("cpu", (2, 1), mesh_dim_names=("a", "b"))), model(), rank
        ),
        "compiled": recorded(torch.compile(sharded(), backend="aot_eager"), model(), rank),
    }
    found["after the clip"] = recorded(sharded(), model(), rank, before_clip=False)
    net = model()
    fully_shard(net[0])
    for name, wrong in {
        "one piece": lambda: net,
        "pairs": lambda: sharded().named_parameters(),
        "FSDP1": lambda: FullyShardedDataParallel(
            model(), device_id=torch.device("cpu"), use_orig_params=True
        ),
    }.items():
        given = wrong()
        pairs = given if not isinstance(given, torch.nn.Module) else given.named_parameters()
        given = dict(given) if not isinstance(given, torch.nn.Module) else given
        parameters = list(given.values()) if isinstance(given, dict) else [p for _, p in pairs]
        try:
            asked = list(given.items()) if isinstance(given, dict) else given
            gl.record.torch(gl.Recorder(), asked, torch.optim.SGD(parameters, 0.1))
            found[name] = "not refused"
        except ValueError as e:
            found[name] = str(e)
    return found


@pytest.fixture(scope="module")
def fsdp(both: list[dict[str, dict[str, Any]]]) -> list[dict[str, Any]]:
    return [of_rank["fsdp"] for of_rank in both]


@pytest.mark.parametrize(
    "loop", ["plain", "layers", "a GradScaler", "micro-batches", "replicated", "compiled"]
)
def test_fsdp2(fsdp: list[dict[str, Any]], loop: str) -> None:
    for of_rank in fsdp:
        result = of_rank[loop]
        assert result["names"] == NAMES and not result["warned"]
        np.testing.assert_allclose(result["norm"], result["expected"], 1e-5)
        # All are followed, in order.
        np.testing.assert_allclose(result["entry"], result["entries"], 1e-4, 1e-6)
        np.testing.assert_array_equal(result["counted"], result["counts"])
        assert not result["nonfinite"].any()
        np.testing.assert_allclose(result["moved"], result["moves"], 1e-3)
    for column in ("norm", "largest", "entry"):
        np.testing.assert_array_equal(fsdp[0][loop][column], fsdp[1][loop][column])


def test_fsdp2_after_the_clip(fsdp: list[dict[str, Any]]) -> None:
    norm = fsdp[0]["after the clip"]["norm"]
    np.testing.assert_allclose(np.linalg.norm(norm, axis=1), CLIP, 1e-2)


@pytest.mark.parametrize(
    ("case", "message"),
    [
        ("one piece", "either all parameters or none must be sharded, got 2.weight, 2.bias whole"),
        ("pairs", "give the model in place of"),
        ("FSDP1", "shard the model with torch.distributed.fsdp.fully_shard"),
    ],
)
def test_what_is_refused(fsdp: list[dict[str, Any]], case: str, message: str) -> None:
    assert all(message in of_rank[case] for of_rank in fsdp)
