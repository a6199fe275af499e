"""Films along the axis of a figure: their pictures, sizes, words and refusals."""

import itertools
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import imageio_ffmpeg
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image, ImageSequence

from gradlab._base.extras import how_to_install
from gradlab.live import Menu
from gradlab.live.film import CHOOSING, ENDINGS, SLIDING, save_film, spread
from tests.live.examples import clipped

pytestmark = pytest.mark.exhaustive


def saved(path: Path, **more: Any) -> Path:
    save_film(clipped(axis=more.pop("axis", "limit")), path, **more)
    return path


def gif(path: Path) -> tuple[list[np.ndarray], list[int], str]:
    """The pictures of a film, how many milliseconds each is shown, and its comment."""
    with Image.open(path) as film:
        comment = film.info["comment"].decode()
        shown = [
            (np.asarray(one.convert("RGB")), one.info["duration"])
            for one in ImageSequence.Iterator(film)
        ]
    return [pixels for pixels, _ in shown], [duration for _, duration in shown], comment


def mp4(path: Path) -> tuple[list[np.ndarray], dict[str, Any]]:
    """The pictures of a film and what its file says about it."""
    ffmpeg = imageio_ffmpeg.get_ffmpeg_exe()
    said = subprocess.run(
        [ffmpeg, "-i", path, "-f", "ffmetadata", "-"], capture_output=True, text=True
    ).stdout
    shape = subprocess.run(
        [ffmpeg, "-i", path, "-f", "image2pipe", "-c:v", "ppm", "-"], capture_output=True
    ).stdout
    header, size = shape.split(b"\n", 3)[:3], [int(n) for n in shape.split(b"\n", 3)[1].split()]
    length, pixels = len(b"\n".join(header)) + 1, size[0] * size[1] * 3
    frames = range(length, len(shape), length + pixels)
    return [
        np.frombuffer(shape, np.uint8, pixels, at).reshape(size[1], size[0], 3) for at in frames
    ], {"said": said}


@given(st.integers(1, 3000), st.integers(2, 90))
def test_places_are_spread_from_end_to_end(count: int, most: int) -> None:
    places = spread(count, most)
    assert len(places) == len(set(places)) == min(count, most)
    assert places == sorted(places)
    assert (places[0], places[-1]) == (0, count - 1)
    assert len({b - a for a, b in itertools.pairwise(places)}) <= 2 or count == 1


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("dark", [False, True])
def test_the_same_state_gives_the_same_bytes(ending: str, dark: bool, tmp_path: Path) -> None:
    first, again = (saved(tmp_path / f"{name}{ending}", dark=dark).read_bytes() for name in "ab")
    assert first == again
    assert len(first) < 500_000


def test_a_gif_shows_what_the_figure_shows(tmp_path: Path) -> None:
    pictures, durations, comment = gif(saved(tmp_path / "x.gif", frames=5))
    assert comment == "The limit is 1. A film along: Limit."
    assert sum(durations) == 5 * 1000 * SLIDING  # equal pictures are one, shown for longer
    live = clipped()
    for pixels, limit in ((pictures[0], 0.01), (pictures[-1], 100.0)):
        live.set(limit=limit)
        expected = live._state.scene.over(live._state.scene.blank(live._state.scene.dpi))[..., :3]
        assert np.abs(pixels.astype(int) - expected).max() <= 24  # 256 colors
        assert np.abs(pixels.astype(int) - expected).mean() < 0.5


def test_a_dark_film_is_dark(tmp_path: Path) -> None:
    light, dark = (
        gif(saved(tmp_path / f"{dark}.gif", dark=dark, frames=2))[0][0] for dark in (False, True)
    )
    assert tuple(light[0, 0]) == (255, 255, 255)
    assert tuple(dark[0, 0]) == (17, 17, 17)


def test_choices_are_shown_long_enough_to_read(tmp_path: Path) -> None:
    live = clipped(axis="rule")
    live._state.controls["rule"] = Menu("rule", "Rule", ("sgd", "ada"), "sgd")  # none that raises
    save_film(live, tmp_path / "x.gif")
    assert sum(gif(tmp_path / "x.gif")[1]) == 2 * 1000 * CHOOSING


def test_an_mp4_shows_it_too_and_says_what_it_is(tmp_path: Path) -> None:
    pictures, about = mp4(saved(tmp_path / "x.mp4", frames=9))
    assert len(pictures) == 9
    assert pictures[0].shape == (374, 600, 3)  # half as sharp again as the figure, and even
    assert "title=The limit is 1. A film along: Limit." in about["said"]
    live = clipped()
    live.set(limit=100.0)
    expected = live._state.scene.over(live._state.scene.blank(150.0))[:374, :600, :3]
    assert np.abs(pictures[-1].astype(int) - expected).mean() < 3


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_figure_without_an_axis_has_no_film(ending: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="Clipping & more has no axis to make a film along"):
        saved(tmp_path / f"x{ending}", axis=None)


def test_a_missing_encoder_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", None)
    with pytest.raises(ImportError, match=re.escape(how_to_install("film"))):
        saved(tmp_path / "x.mp4")
    assert not (tmp_path / "x.mp4").exists()


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_file_that_cannot_be_written_is_an_error(ending: str, tmp_path: Path) -> None:
    with pytest.raises(OSError, match="no such folder"):
        saved(tmp_path / "no" / f"x{ending}")


@pytest.mark.parametrize("reads", ["cat > /dev/null", ""], ids=["in the end", "at once"])
def test_an_encoder_that_gives_up_is_an_error(
    reads: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / "ffmpeg"
    script.write_text(f"#!/bin/sh\n{reads}\necho no such codec >&2\nexit 1\n")
    script.chmod(0o755)
    monkeypatch.setattr(imageio_ffmpeg, "get_ffmpeg_exe", lambda: str(script))
    with pytest.raises(OSError, match=r"could not write .*x\.mp4: no such codec"):
        saved(tmp_path / "x.mp4", frames=2)
