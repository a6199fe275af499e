import struct

import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from gradlab.live.display_list import (
    CLIP,
    IMAGE,
    MARKS,
    NO_COLOR,
    PATH,
    STAMPS,
    STYLE,
    TEXT,
    color,
    decode,
    unpack,
)
from gradlab.live.scene import Scene
from tests.live.gallery import GALLERY, build


def scene_of(make: object) -> Scene:
    figure = Figure(figsize=(4, 2), dpi=100)
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(0, 400), ylim=(0, 200))
    make(axes)  # type: ignore[operator]
    return Scene(figure)


def codes_of(scene: Scene) -> list[int]:
    return [code for code, _ in decode(scene.frame(1.0))]


@pytest.mark.parametrize("name", GALLERY)
def test_every_word_of_a_list_belongs_to_an_operation(name: str) -> None:
    data = Scene(build(name)).frame(1.0)
    assert sum(8 + len(body) for _, body in decode(data)) == len(data)
    assert {code for code, _ in decode(data)} <= {CLIP, STYLE, PATH, MARKS, STAMPS, IMAGE, TEXT}


def test_a_line_is_recorded_where_agg_would_draw_it() -> None:
    scene = scene_of(lambda axes: axes.plot([100, 300], [50, 50], lw=0.72, animated=True))
    clip, style, path = decode(scene.frame(1.0))
    assert struct.unpack("<I4f", clip[1][:20]) == (1, 0, 0, 400, 200)
    assert struct.unpack_from("<If", style[1])[1] == pytest.approx(1.0)
    vertices, codes, _ = unpack(path[1], 4)
    # Snapped to the pixel's middle.
    np.testing.assert_array_equal(vertices[:2], [[100.5, 150.5], [300.5, 150.5]])
    assert codes.tolist()[:2] == [1, 2]


def test_pixels_follow_the_screen() -> None:
    scene = scene_of(lambda axes: axes.plot([100, 300], [50, 150], animated=True))
    (_, _, (_, body)) = decode(scene.frame(2.0))
    vertices, _, _ = unpack(body, 4)
    np.testing.assert_allclose(vertices[:2], [[200, 300], [600, 100]])
    assert scene.figure.dpi == 200


def test_what_does_not_move_is_not_recorded() -> None:
    scene = scene_of(lambda axes: axes.plot([0, 400], [0, 200]))
    assert scene.frame(1.0) == b""


def test_hidden_artists_and_axes_are_left_out() -> None:
    scene = scene_of(lambda axes: axes.plot([0, 400], [0, 200], animated=True))
    scene.figure.axes[0].set_visible(False)
    assert scene.frame(1.0) == b""


def test_scatters_are_one_operation() -> None:
    numbers = np.random.default_rng(0).uniform(0, 200, (2, 500))
    scene = scene_of(lambda axes: axes.scatter(*numbers, s=numbers[0], c=numbers[1], animated=True))
    assert codes_of(scene).count(STAMPS) == 1
    scene = scene_of(lambda axes: axes.scatter(*numbers, s=9, animated=True))
    assert codes_of(scene).count(MARKS) == 1


def test_images_travel_at_the_resolution_of_their_data() -> None:
    scene = scene_of(
        lambda axes: axes.imshow(
            np.eye(7), interpolation="none", animated=True, extent=(0, 70, 0, 70)
        )
    )
    (body,) = (body for code, body in decode(scene.frame(1.0)) if code == IMAGE)
    assert struct.unpack_from("<II", body, 28) == (7, 7)


def test_repeated_text_is_painted_once() -> None:
    scene = scene_of(lambda axes: axes.text(10, 10, "norm 1.0", animated=True))
    assert scene.frame(1.0) == scene.frame(1.0)
    (recorder,) = scene._recorders.values()
    assert len(recorder._lettering._masks) == 1


def test_an_empty_text_and_points_that_are_not_finite_are_harmless() -> None:
    scene = scene_of(
        lambda axes: (
            axes.text(10, 10, " ", animated=True),
            axes.plot([np.nan, 10, np.inf], [1, np.nan, 3], "o-", animated=True),
            axes.scatter([np.nan, 1e300], [5, 5], s=[1, 2], animated=True),
        )
    )
    assert TEXT in codes_of(scene)


def test_what_cannot_be_recorded_is_refused_by_name() -> None:
    with pytest.raises(NotImplementedError, match="hatched"):
        codes_of(
            scene_of(lambda axes: axes.add_patch(Rectangle((1, 1), 9, 9, hatch="/", animated=True)))
        )
    with pytest.raises(NotImplementedError, match="Gouraud"):
        codes_of(
            scene_of(lambda axes: axes.pcolormesh(np.eye(4), shading="gouraud", animated=True))
        )


def test_a_refused_artist_leaves_nothing_behind() -> None:
    scene = scene_of(lambda axes: axes.plot([0, 400], [0, 200], animated=True))
    good = scene.frame(1.0)
    patch = scene.figure.axes[0].add_patch(Rectangle((1, 1), 9, 9, hatch="/", animated=True))
    with pytest.raises(NotImplementedError):
        scene.frame(1.0)
    patch.remove()
    assert scene.frame(1.0) == good


def test_colors_are_packed() -> None:
    assert color(None) == color((1, 1, 1, 0)) == NO_COLOR
    assert color((1, 0, 0)) == 0xFF0000FF
    assert color((0, 0, 1, 0.2), 1.0) == 0xFFFF0000
