"""Films of a LiveFigure along its axis: still parts are painted once, moving ones over them in every picture."""

from __future__ import annotations

import itertools
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .._base.extras import need
from .cells import drawing
from .sliders import Slider

if TYPE_CHECKING:
    from .figure import LiveFigure

FRAMES = 60
SLIDING, CHOOSING = 0.08, 1.6  # seconds to see one more place of a slider, and to read another choice
RATE = "12.5"  # pictures a second in an .mp4: one for each place of a slider
SHARP = 1.5  # pixels of an .mp4 per pixel of the figure; a .gif is shown at its own size
COLOURS = 256  # of a .gif
COARSE = ~3  # what Pillow sees of a part of a colour when it looks for the nearest in a palette
ENDINGS = (".gif", ".mp4")

Array = Any


def save_film(live: LiveFigure, path: Path, dark: bool = False, frames: int = FRAMES) -> None:
    """Write what the figure shows from one end of its axis to the other.

    Args:
        live: the figure; it is moved about, so let nobody else use it.
        path: .gif or .mp4. The same state gives the same bytes.
        dark: in dark colours.
        frames: the most pictures there may be, evenly spaced.

    Raises:
        ValueError: the figure has no axis. ImportError: there is no encoder for an .mp4. OSError: the file cannot be
            written.
    """
    if live._axis is None:
        raise ValueError(f"{live._label} has no axis to make a film along")
    control: Any = live._controls[live._axis]
    places = spread(len(control.values()), frames)
    states = [{**live.values, live._axis: control.values()[place]} for place in places]
    seconds = SLIDING if isinstance(control, Slider) else CHOOSING
    words = f"{live.description.alt} A film along: {control.label}."
    if path.suffix.lower() == ".gif":
        _gif(list(_pictures(live, states, 1.0, dark)), path, seconds, words)
    else:
        _mp4(_pictures(live, states, SHARP, dark), path, seconds, words)


def spread(count: int, most: int) -> list[int]:
    """Give at most `most` positions from 0 to count - 1, evenly spaced, both ends among them.

    >>> spread(3, 60), spread(241, 4)
    ([0, 1, 2], [0, 80, 160, 240])
    """
    return [round(place) for place in np.linspace(0, count - 1, min(count, most)).tolist()]


def _pictures(live: LiveFigure, states: Sequence[dict[str, Any]], ratio: float, dark: bool) -> Iterator[Array]:
    """Paint every state: pixels (h, w, 3), h and w even, as encoders want them."""
    scene = live._scene
    with drawing:
        still = scene.blank(scene.dpi * ratio, dark)
    height, width = (size - size % 2 for size in still.shape[:2])
    for state in states:
        with drawing:
            live._described(state)
            picture = scene.over(still, dark)
        yield np.ascontiguousarray(picture[:height, :width, :3])


def _gif(pictures: Sequence[Array], path: Path, seconds: float, words: str) -> None:
    from PIL import Image

    colours = frequent(pictures)
    coarse, exact = ([part & mask for colour in colours for part in colour] for mask in (COARSE, 255))
    palette = Image.new("P", (1, 1))
    palette.putpalette(coarse)
    images = [Image.fromarray(pixels).quantize(palette=palette, dither=Image.Dither.NONE) for pixels in pictures]
    for image in images:
        image.putpalette(exact)
    first, *others = images
    first.save(
        path, "GIF", save_all=True, append_images=others, duration=round(1000 * seconds), loop=0, optimize=False,
        comment=words.encode("ascii", "replace"),
    )  # fmt: skip


def frequent(pictures: Sequence[Array], most: int = COLOURS) -> list[tuple[int, int, int]]:
    """Give the colours that a few of the pictures use most; of those that hardly differ, one."""
    from PIL import Image

    sample = Image.fromarray(np.concatenate(pictures[:: max(1, len(pictures) // 6)]))
    counted: list[Any] = sample.getcolors(sample.width * sample.height) or []
    alike: dict[Any, Any] = {}
    for _, colour in sorted(counted, reverse=True):
        alike.setdefault(tuple(part & COARSE for part in colour), colour)
    return list(alike.values())[:most]


def _mp4(pictures: Iterator[Array], path: Path, seconds: float, words: str) -> None:
    ffmpeg = need("imageio_ffmpeg", "an .mp4", "film").get_ffmpeg_exe()
    path.open("wb").close()  # a file that cannot be written is Python's to report
    first = next(pictures)
    height, width = first.shape[:2]
    source = ["-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{width}x{height}", "-framerate", f"{1 / seconds:g}"]
    # What every browser plays, with its index first and no dates.
    codec = ["-c:v", "libx264", "-pix_fmt", "yuv420p", "-crf", "20", "-preset", "veryfast", "-r", RATE]
    tidy = ["-fflags", "+bitexact", "-flags:v", "+bitexact", "-movflags", "+faststart", "-metadata", f"title={words}"]
    command = [ffmpeg, "-y", "-loglevel", "error", *source, "-i", "-", *codec, *tidy, "-f", "mp4", str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as encoder:
        assert encoder.stdin is not None and encoder.stderr is not None
        with suppress(BrokenPipeError), encoder.stdin:  # an encoder that is gone has said why
            for pixels in itertools.chain([first], pictures):
                encoder.stdin.write(pixels.tobytes())
        said = encoder.stderr.read().decode(errors="replace").strip()
    if encoder.returncode:
        raise OSError(f"the encoder could not write {path}: {said}")
