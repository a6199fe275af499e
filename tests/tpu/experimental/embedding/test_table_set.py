"""Reading, loading, saving and restoring tables by name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import gradlab as gl
from gradlab._base.archive import ArchiveWriter
from gradlab.tpu.experimental.embedding import (
    SGD,
    Adagrad,
    Adam,
    Constant,
    FeatureConfig,
    MDLAdagradLight,
    RowIdInitializer,
    TableConfig,
    TPUEmbedding,
    TPUEmbeddingForServing,
)
from gradlab.tpu.experimental.embedding.table_set import adopt_tables, initial_arrays


def adopted(*tables: Any, optimizer: Any = None, **more: Any) -> list[TableConfig]:
    return adopt_tables(
        [(str(k), FeatureConfig(t)) for k, t in enumerate(tables)], optimizer, **more
    )


def test_tables_get_a_name_and_an_optimizer() -> None:
    first, second = TableConfig(8, 1, optimizer=Adam()), TableConfig(8, 1)
    assert adopted(first, second, first, optimizer=SGD()) == [first, second]
    assert (first.name, second.name) == ("table_0", "table_1")
    assert (first.optimizer, second.optimizer) == (Adam(), SGD())


@pytest.mark.parametrize(
    ("tables", "optimizer", "told"),
    [
        (
            [TableConfig(8, 1, name="a"), TableConfig(8, 1, name="a")],
            SGD(),
            "two tables have the name 'a'",
        ),
        (
            [TableConfig(8, 1), TableConfig(8, 1, name="table_0")],
            SGD(),
            "two tables have the name 'table_0'",
        ),
        ([TableConfig(8, 1, name="a")], None, "table 'a' needs an optimizer of gl.tpu, got None"),
        ([TableConfig(8, 1, name="a")], "sgd", "table 'a' needs an optimizer of gl.tpu, got 'sgd'"),
    ],
)
def test_what_is_refused_leaves_the_tables_as_they_were(
    tables: list[TableConfig], optimizer: Any, told: str
) -> None:
    before = [(t.name, t.optimizer) for t in tables]
    with pytest.raises(ValueError, match=told):
        adopted(*tables, optimizer=optimizer)
    assert [(t.name, t.optimizer) for t in tables] == before


def test_no_optimizer_is_fine_where_nothing_is_trained() -> None:
    assert adopted(TableConfig(8, 1), needs_optimizer=False)[0].optimizer is None
    with pytest.raises(ValueError, match="feature '0' must be a FeatureConfig, got int"):
        adopt_tables([("0", 3)], SGD())


def test_every_table_has_numbers_of_its_own_which_the_seed_repeats() -> None:
    def made(seed: int) -> list[np.ndarray]:
        return [
            a[0]
            for a in initial_arrays(
                adopted(*(TableConfig(8, 2) for _ in range(2)), optimizer=SGD()), [8, 8], seed
            )
        ]

    (a, b), (same, _), (other, _) = made(0), made(0), made(1)
    assert (a == same).all() and not (a == b).any() and not (a == other).any()


def test_slots_come_after_the_table_and_begin_as_the_optimizer_says() -> None:
    table = TableConfig(3, 2, Constant(1.0), Adagrad(initial_accumulator_value=0.5))
    (arrays,) = initial_arrays(adopted(table), [3], 0)
    assert [x.tolist() for x in arrays] == [[[1.0] * 2] * 3, [[0.5] * 2] * 3]


def test_slots_that_begin_as_the_table_do_so() -> None:
    table = TableConfig(3, 1, RowIdInitializer(), MDLAdagradLight())
    (arrays,) = initial_arrays(adopted(table), [3], 0)
    assert (arrays[2] == arrays[0]).all()


def test_slots_may_be_made_by_a_function_of_ones_own() -> None:
    asked = []

    def make(parameters: Any, names: list[str], initializers: list[Any]) -> dict[str, Any]:
        asked.append((parameters.shape, names, [f((1, 1)).item() for f in initializers]))
        return {"velocities": np.full((3, 2), 4.0), "momenta": np.full((3, 2), 5.0)}

    table = TableConfig(3, 2, Constant(1.0), Adam(slot_variable_creation_fn=make))
    (arrays,) = initial_arrays(adopted(table), [3], 0)
    assert [x[0, 0] for x in arrays] == [1, 5, 4] and asked == [
        ((3, 2), ["momenta", "velocities"], [0.0, 0.0])
    ]
    none = TableConfig(3, 2, Constant(1.0), Adam(slot_variable_creation_fn=lambda *_: {}), name="t")
    with pytest.raises(ValueError, match="of table 't' made no 'momenta'"):
        TPUEmbeddingForServing(FeatureConfig(none)).build()


def make(**more: object) -> TPUEmbedding:
    video = TableConfig(8, 2, RowIdInitializer(), combiner="sum", name="a/video")
    return TPUEmbedding(
        [FeatureConfig(video), FeatureConfig(TableConfig(5, 1, name="user"))], Adagrad(0.5), **more
    )  # type: ignore[arg-type]


def step(embedding: TPUEmbedding) -> None:
    embedding.enqueue([[[1], [2, 7], [3], [1]], [[1], [2], [], [4]]])
    embedding.apply_gradients([jnp.ones_like(a) for a in embedding.dequeue()])


@pytest.mark.exhaustive
def test_what_is_saved_goes_on_elsewhere_as_if_nothing_had_happened(tmp_path: Path) -> None:
    first = make()
    step(first)
    first.save(tmp_path / "tables.npz")
    others = [make(seed=7), make(seed=7, mesh=jax.make_mesh((2,), ("rows",))), make(seed=7)]
    others[2].build(4)
    for other in others:
        other.restore(tmp_path / "tables.npz")
        step(other)
    step(first)
    for other in others:
        for table, arrays in first.retrieve().items():
            for name, x in arrays.items():
                np.testing.assert_allclose(other.retrieve()[table][name], x, rtol=1e-6)


def test_a_broken_file_is_named_and_nothing_changes(tmp_path: Path) -> None:
    embedding, path = make(), tmp_path / "tables.npz"
    embedding.save(path)
    whole = path.read_bytes()
    for rest in (b"", b"no archive", whole[: len(whole) // 2], whole.replace(b"NUMPY", b"NUMPI")):
        path.write_bytes(rest)
        with pytest.raises(
            gl.errors.DataLossError, match=r"tables\.npz is no file of embedding tables"
        ):
            embedding.restore(path)
    with pytest.raises(FileNotFoundError):
        embedding.restore(tmp_path / "none.npz")
    assert (embedding.retrieve()["a/video"]["parameters"][3] == 3).all()


@pytest.mark.parametrize(
    "change", [lambda x: x + 1j, lambda x: x.astype(np.float64), lambda x: x.astype(str)]
)
def test_a_file_with_other_numbers_is_refused(change: Any, tmp_path: Path) -> None:
    embedding = make()
    found = {
        f"{t}/{name}": x for t, arrays in embedding.retrieve().items() for name, x in arrays.items()
    }
    found["user/parameters"] = change(found["user/parameters"])
    with ArchiveWriter(tmp_path / "bad.npz", "file of embedding tables", 1) as file:
        for name, x in found.items():
            file.array(name, np.asarray(x))
    with pytest.raises(gl.errors.DataLossError, match="user/parameters must be float32"):
        embedding.restore(tmp_path / "bad.npz")
    embedding.save(tmp_path / "good.npz")
    with pytest.raises(gl.errors.DataLossError, match="max_bytes allows 100"):
        embedding.restore(tmp_path / "good.npz", max_bytes=100)


def test_tables_are_served_from_the_same_file(tmp_path: Path) -> None:
    trained = make()
    step(trained)
    trained.save(tmp_path / "tables.npz")
    served = TPUEmbeddingForServing([FeatureConfig(TableConfig(8, 2, name="a/video"))], Adagrad())
    served.load({"a/video": trained.retrieve()["a/video"]})
    assert (
        served.embedding_lookup([[[7]]])[0] == trained.retrieve()["a/video"]["parameters"][7]
    ).all()


@pytest.mark.parametrize(
    ("change", "error", "told"),
    [
        (
            {"book": {}},
            gl.errors.NotFoundError,
            "there is no table 'book'; there are a/video, user",
        ),
        (
            {"user": {"parameters": np.ones((5, 1))}},
            ValueError,
            "'user' has parameters, accumulators; got parameters",
        ),
        (
            {"user": {"parameters": np.ones((5, 1)), "accumulators": np.ones((5, 2))}},
            ValueError,
            r"accumulators of table 'user' must have shape \(5, 1\), got \(5, 2\)",
        ),
    ],
)
@pytest.mark.parametrize("is_built", [False, True])
def test_what_does_not_fit_is_not_loaded_at_all(
    change: dict[str, dict[str, np.ndarray]], error: type[Exception], told: str, is_built: bool
) -> None:
    embedding = make()
    if is_built:
        embedding.build(4)
    before = embedding.retrieve()
    new = {"a/video": {name: x + 1 for name, x in before["a/video"].items()}}
    with pytest.raises(error, match=told):
        embedding.load(new | change)
    assert (embedding.retrieve()["a/video"]["parameters"] == before["a/video"]["parameters"]).all()
    embedding.load(new)
    assert (
        embedding.retrieve()["a/video"]["accumulators"] == before["a/video"]["accumulators"] + 1
    ).all()


def test_an_update_held_back_is_made_before_tables_are_read() -> None:
    embedding = make(pipeline_execution_with_tensor_core=True)
    step(embedding)
    assert embedding.retrieve()["a/video"]["accumulators"][1, 0] == np.float32(4.1)
