"""Films of a LiveFigure along its axis: still parts are painted once, moving ones over them in every picture."""

from __future__ import annotations

import itertools
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .._base.atomic_files import atomic_replace
from .._base.extras import need
from .progress import told
from .scheduling import drawing
from .sliders import Slider
from .state import FigureState

if TYPE_CHECKING:
    from .figure import LiveFigure

FRAMES = 60
# Seconds to see one more place of a slider, and to read another choice.
SLIDING, CHOOSING = 0.08, 1.6
RATE = "12.5"  # pictures a second in an .mp4: one for each place of a slider
SHARP = 1.5  # pixels of an .mp4 per pixel of the figure; a .gif is shown at its own size
COLORS = 256  # of a .gif
COARSE = ~3  # what Pillow sees of a part of a color when it looks for the nearest in a palette
ENDINGS = (".gif", ".mp4")


def save_film(
    live: LiveFigure, path: Path, dark: bool = False, frames: int = FRAMES, source: str = ""
) -> None:
    """Write what the figure shows from one end of its axis to the other.

    Args:
        live: the figure; it is moved about, so don't use it elsewhere.
        path: .gif or .mp4. The same state gives the same bytes.
        dark: in dark colors.
        frames: the most pictures there may be, evenly spaced.
        source: where it is from; with one, a caption and a bar that says how far it has come stand
            around it.

    Raises:
        ValueError: the figure has no axis.
        ImportError: there is no encoder for an .mp4.
        OSError: the file cannot be written.
    """
    figure = live._state
    if figure.axis is None:
        raise ValueError(f"{figure.label} has no axis to make a film along")
    control: Any = figure.controls[figure.axis]
    places = spread(len(control.values()), frames)
    states = [{**figure.values, figure.axis: control.values()[place]} for place in places]
    seconds = SLIDING if isinstance(control, Slider) else CHOOSING
    words = f"{figure.description.alt} A film along: {control.label}."
    if path.suffix.lower() == ".gif":
        _gif(
            list(told(_pictures(figure, states, 1.0, dark, source), 2 * len(states))),
            path,
            seconds,
            words,
        )
    else:
        _mp4(
            told(_pictures(figure, states, SHARP, dark, source), len(states)), path, seconds, words
        )


def spread(count: int, most: int) -> list[int]:
    """Give at most `most` positions from 0 to count - 1, evenly spaced, both ends among them.

    >>> spread(3, 60), spread(241, 4)
    ([0, 1, 2], [0, 80, 160, 240])
    """
    return [round(place) for place in np.linspace(0, count - 1, min(count, most)).tolist()]


def _pictures(
    figure: FigureState, states: Sequence[dict[str, Any]], ratio: float, dark: bool, source: str
) -> Iterator[np.ndarray]:
    """Paint every state: pixels (h, w, 3), h and w even, as encoders want them."""
    scene = figure.scene
    with drawing:
        still = scene.blank(scene.dpi * ratio, dark)
        # The highest caption of all says how high every picture is.
        around = (
            figure.around([(state, figure.describe(state)) for state in states], source)
            if source
            else None
        )
    for place, state in enumerate(states):
        with drawing:
            figure.describe(state)
            picture = scene.over(still, dark)
            if around:
                picture = figure.framed(picture, dark, around, place)
        height, width = (size - size % 2 for size in picture.shape[:2])
        yield np.ascontiguousarray(picture[:height, :width, :3])


def _gif(pictures: Sequence[np.ndarray], path: Path, seconds: float, words: str) -> None:
    from PIL import Image

    colors = frequent(pictures)
    coarse, exact = ([part & mask for color in colors for part in color] for mask in (COARSE, 255))
    palette = Image.new("P", (1, 1))
    palette.putpalette(coarse)
    halfway = told(pictures, 2 * len(pictures), first=len(pictures))
    images = [
        Image.fromarray(pixels).quantize(palette=palette, dither=Image.Dither.NONE)
        for pixels in halfway
    ]
    for image in images:
        image.putpalette(exact)
    first, *others = images
    with atomic_replace(path) as part:
        first.save(
            part,
            "GIF",
            save_all=True,
            append_images=others,
            duration=round(1000 * seconds),
            loop=0,
            optimize=False,
            comment=words.encode("ascii", "replace"),
        )


def frequent(pictures: Sequence[np.ndarray], most: int = COLORS) -> list[tuple[int, int, int]]:
    """Give the colors that a few of the pictures use most; of those that hardly differ, one."""
    from PIL import Image

    sample = Image.fromarray(np.concatenate(pictures[:: max(1, len(pictures) // 6)]))
    told: list[Any] = sample.getcolors(sample.width * sample.height) or []
    alike: dict[Any, Any] = {}
    for _, color in sorted(told, reverse=True):
        alike.setdefault(tuple(part & COARSE for part in color), color)
    return list(alike.values())[:most]


def _mp4(pictures: Iterator[np.ndarray], path: Path, seconds: float, words: str) -> None:
    ffmpeg = need("imageio_ffmpeg", "an .mp4", "film").get_ffmpeg_exe()
    with atomic_replace(path) as part:
        first = next(pictures)
        height, width = first.shape[:2]
        source = [
            "-f",
            "rawvideo",
            "-pix_fmt",
            "rgb24",
            "-s",
            f"{width}x{height}",
            "-framerate",
            f"{1 / seconds:g}",
        ]
        # What every browser plays, with its index first and no dates.
        codec = [
            "-c:v",
            "libx264",
            "-pix_fmt",
            "yuv420p",
            "-crf",
            "20",
            "-preset",
            "veryfast",
            "-r",
            RATE,
        ]
        tidy = ["-fflags", "+bitexact", "-flags:v", "+bitexact", "-movflags", "+faststart"]
        titled = ["-metadata", f"title={words}", "-f", "mp4"]
        command = [
            ffmpeg,
            "-y",
            "-loglevel",
            "error",
            *source,
            "-i",
            "-",
            *codec,
            *tidy,
            *titled,
            str(part),
        ]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as encoder:
            assert encoder.stdin is not None and encoder.stderr is not None
            with suppress(BrokenPipeError), encoder.stdin:  # an encoder that is gone has said why
                for pixels in itertools.chain([first], pictures):
                    encoder.stdin.write(pixels.tobytes())
            said = encoder.stderr.read().decode(errors="replace").strip()
        if encoder.returncode:
            raise OSError(f"the encoder could not write {path}: {said}")
