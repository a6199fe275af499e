"""Reading, loading, saving and restoring tables by name."""

from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import gradlab as gl
from gradlab.tpu import Adagrad, FeatureConfig, RowIdInitializer, TableConfig, TPUEmbedding, TPUEmbeddingForServing


def make(**more: object) -> TPUEmbedding:
    video = TableConfig(8, 2, RowIdInitializer(), combiner="sum", name="a/video")
    return TPUEmbedding([FeatureConfig(video), FeatureConfig(TableConfig(5, 1, name="user"))], Adagrad(0.5), **more)  # type: ignore[arg-type]


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
        with pytest.raises(ValueError, match=r"cannot read .*tables\.npz: "):
            embedding.restore(path)
    with pytest.raises(FileNotFoundError):
        embedding.restore(tmp_path / "none.npz")
    assert (embedding.retrieve()["a/video"]["parameters"][3] == 3).all()


def test_tables_are_served_from_the_same_file(tmp_path: Path) -> None:
    trained = make()
    step(trained)
    trained.save(tmp_path / "tables.npz")
    served = TPUEmbeddingForServing([FeatureConfig(TableConfig(8, 2, name="a/video"))], Adagrad())
    served.load({"a/video": trained.retrieve()["a/video"]})
    assert (served.embedding_lookup([[[7]]])[0] == trained.retrieve()["a/video"]["parameters"][7]).all()


@pytest.mark.parametrize(
    ("change", "error", "told"),
    [
        ({"book": {}}, gl.errors.NotFoundError, "there is no table 'book'; there are a/video, user"),
        ({"user": {"parameters": np.ones((5, 1))}}, ValueError, "'user' has parameters, accumulators; got parameters"),
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
    assert (embedding.retrieve()["a/video"]["accumulators"] == before["a/video"]["accumulators"] + 1).all()


def test_an_update_held_back_is_made_before_tables_are_read() -> None:
    embedding = make(pipeline_execution_with_tensor_core=True)
    step(embedding)
    assert embedding.retrieve()["a/video"]["accumulators"][1, 0] == np.float32(4.1)
