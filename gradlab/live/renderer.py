"""A matplotlib renderer that writes a display list instead of pixels.

It follows Agg where Agg departs from the plain geometry (snapping to pixels, whole-pixel marker
places and clip boxes), so that a browser canvas shows what Agg would have drawn.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from matplotlib.backend_bases import RendererBase
from matplotlib.colors import to_rgba_array

from .artist_cache import ArtistCache
from .display_list import FAR, NO_COLOR, Writer, color, pack
from .lettering import Lettering

CAPS = ("butt", "round", "projecting")
JOINS = ("miter", "round", "bevel")
MARGIN = 1.0


class DisplayListRenderer(RendererBase):
    """Records draw calls for a canvas of `width` x `height` pixels at `dpi`; `finish` gives the display list."""

    def __init__(self, width: int, height: int, dpi: float) -> None:
        super().__init__()
        self.width, self.height, self.dpi = width, height, dpi
        self._flip = np.array([[1.0, 0.0, 0.0], [0.0, -1.0, height], [0.0, 0.0, 1.0]])
        self._page = (-MARGIN, -MARGIN, width + MARGIN, height + MARGIN)
        self._lettering = Lettering(dpi)
        self.colors: set[int] = set()  # every color word recorded so far
        self.cache = ArtistCache()
        self._begin()

    def _begin(self) -> None:
        self._writer = Writer()
        self._clip_state: Any = None
        self._style_state: Any = None

    def finish(self) -> bytes:
        """Give the display list recorded since the last call."""
        data = self._writer.finish()
        self._begin()
        return data

    def record(self, artist: Any) -> None:
        """Record what an artist draws, without drawing it again if it has not changed."""
        pen = self._clip_state, self._style_state
        drawing = self.cache.find(artist, pen)
        if drawing is not None:
            self._writer.extend(drawing.operations)
            self._clip_state, self._style_state = drawing.pen_after
            return
        start = self._writer.length
        artist.draw(self)
        self.cache.keep(
            artist, pen, (self._clip_state, self._style_state), self._writer.since(start)
        )

    # What matplotlib asks of a renderer

    def flipy(self) -> bool:
        return True

    def get_canvas_width_height(self) -> tuple[float, float]:
        return self.width, self.height

    def points_to_pixels(self, points: Any) -> Any:
        return points * self.dpi / 72

    def option_scale_image(self) -> bool:
        return True

    def get_text_width_height_descent(
        self, s: str, prop: Any, ismath: Any
    ) -> tuple[float, float, float]:
        return self._lettering.measure(s, prop, ismath)

    def draw_path(self, gc: Any, path: Any, transform: Any, rgbFace: Any = None) -> None:
        face = self._prepare(gc, rgbFace)
        self._writer.path(face, self._cleaned(gc, path, transform, rgbFace is None))

    def draw_markers(
        self,
        gc: Any,
        marker_path: Any,
        marker_trans: Any,
        path: Any,
        trans: Any,
        rgbFace: Any = None,
    ) -> None:
        face = self._prepare(gc, rgbFace)
        flip = np.diag([1.0, -1.0, 1.0])
        mark, snapped = self._shape(gc, marker_path, flip @ marker_trans.get_matrix())
        if not snapped:
            mark.vertices += 0.5
        positions = trans.transform(
            path.vertices if path.codes is None else path.vertices[path.codes != 79]
        )
        positions = positions * (1.0, -1.0) + (0.5, self.height + 0.5)
        near = (np.abs(positions) < FAR).all(axis=1)  # false for NaN as well
        self._writer.marks(face, pack(mark.vertices, mark.codes), np.floor(positions[near]))

    def draw_path_collection(
        self,
        gc: Any,
        master_transform: Any,
        paths: Any,
        all_transforms: Any,
        offsets: Any,
        offset_trans: Any,
        facecolors: Any,
        edgecolors: Any,
        linewidths: Any,
        linestyles: Any,
        antialiaseds: Any,
        urls: Any,
        offset_position: Any,
        **hatching: Any,
    ) -> None:
        count = max(len(paths), len(all_transforms), len(offsets))
        matrices = self._matrices(
            all_transforms, master_transform, offset_trans.transform(offsets), count
        )
        plain = len(paths) == 1 and count > 1 and len(linestyles) < 2
        if not plain or self._snaps(gc, paths[0], matrices[0], linewidths):
            super().draw_path_collection(
                gc,
                master_transform,
                paths,
                all_transforms,
                offsets,
                offset_trans,
                facecolors,
                edgecolors,
                linewidths,
                linestyles,
                antialiaseds,
                urls,
                offset_position,
                **hatching,
            )
            return
        if len(linestyles):
            gc.set_dashes(*linestyles[0])
        self._prepare(gc, None)
        near = (np.abs(matrices) < FAR).all(axis=(1, 2))  # false for NaN as well
        flat = matrices[near, :2, :].transpose(0, 2, 1).reshape(-1, 6)
        cycle = np.arange(count)[near]
        widths = self.points_to_pixels(np.asarray(linewidths if len(linewidths) else [0.0], float))
        shape = paths[0].cleaned(remove_nans=True, curves=True)
        packed = pack(shape.vertices, shape.codes)
        faces, edges = self._cycled(facecolors, cycle), self._cycled(edgecolors, cycle)
        self._writer.stamps(packed, flat, faces, edges, widths[cycle % len(widths)])

    def draw_image(self, gc: Any, x: float, y: float, im: Any, transform: Any = None) -> None:
        self._prepare(gc, None)
        # Resampled pixels carry their alpha already.
        alpha = 1.0 if transform is None else gc.get_alpha()
        height, width = im.shape[:2]
        if transform is None:
            left, bottom = math.floor(x + 0.5), math.floor(y + 0.5)
            matrix: tuple[float, ...] = (1.0, 0.0, 0.0, -1.0, left, self.height - bottom)
        else:
            matrix = self._image_matrix(transform.get_matrix(), x, y, width, height)
        self._writer.image(matrix, alpha, im)

    def draw_text(
        self,
        gc: Any,
        x: float,
        y: float,
        s: str,
        prop: Any,
        angle: float,
        ismath: Any = False,
        mtext: Any = None,
    ) -> None:
        self._clip(gc)
        left, top, mask = self._lettering.paint(gc, x, y, s, prop, angle, ismath, mtext)
        self._writer.text(
            self._word(gc.get_rgb(), gc.get_alpha() if gc.get_forced_alpha() else None),
            left,
            top,
            mask,
        )

    def draw_tex(
        self, gc: Any, x: float, y: float, s: str, prop: Any, angle: float, *, mtext: Any = None
    ) -> None:
        self.draw_text(gc, x, y, s, prop, angle, "TeX", mtext)

    def draw_gouraud_triangles(self, *args: Any, **kwargs: Any) -> None:
        raise NotImplementedError(
            "a moving artist cannot be Gouraud shaded: use shading='nearest', or keep it still"
        )

    # Details

    def _prepare(self, gc: Any, face: Any) -> int:
        """Bring clip and pen up to date and give the packed fill color."""
        if gc.get_hatch() is not None:
            raise NotImplementedError(
                "a moving artist cannot be hatched: use a color, or keep it still"
            )
        self._clip(gc)
        forced = gc.get_alpha() if gc.get_forced_alpha() else None
        width = self.points_to_pixels(gc.get_linewidth())
        self._style(self._word(gc.get_rgb(), forced) if width > 0 else NO_COLOR, width, gc)
        if face is not None and len(face) == 3 and forced is None:
            forced = gc.get_alpha()
        return self._word(face, forced)

    def _word(self, rgba: Any, alpha: float | None) -> int:
        """Pack a color and remember that it was used."""
        word = color(rgba, alpha)
        if word != NO_COLOR:
            self.colors.add(word)
        return word

    def _cycled(self, colors: Any, cycle: np.ndarray) -> np.ndarray:
        """Pack colors, repeated over the items, as words."""
        packed = [self._word(rgba, None) for rgba in to_rgba_array(colors)] or [NO_COLOR]
        words: np.ndarray = np.array(packed, np.uint32)[cycle % len(packed)]
        return words

    def _style(self, edge: int, width: float, gc: Any) -> None:
        offset, lengths = gc.get_dashes()
        scale = self.dpi / 72
        dashes = (
            (offset * scale, tuple(length * scale for length in lengths))
            if lengths is not None
            else (0.0, ())
        )
        state = (
            edge,
            width,
            CAPS.index(gc.get_capstyle()),
            JOINS.index(gc.get_joinstyle()),
            dashes,
        )
        if state != self._style_state:
            self._style_state = state
            self._writer.style(*state)

    def _clip(self, gc: Any) -> None:
        box, (path, transform) = gc.get_clip_rectangle(), gc.get_clip_path()
        rectangle = None if box is None else self._pixels(box.extents)
        state = (rectangle, path, None if path is None else transform.get_matrix().tobytes())
        if state == self._clip_state:
            return
        self._clip_state = state
        packed = None
        if path is not None:
            outline = path.cleaned(
                self._flip @ transform.get_matrix(), remove_nans=True, curves=True
            )
            packed = pack(outline.vertices, outline.codes)
        self._writer.clip(rectangle, packed)

    def _pixels(self, extents: np.ndarray) -> tuple[float, float, float, float]:
        """Round a clip box to whole pixels as Agg does."""
        x0, y0, x1, y1 = (float(value) for value in extents)
        top, bottom = math.floor(self.height - y1 + 0.5), math.floor(self.height - y0 + 0.5)
        return math.floor(x0 + 0.5), top, math.floor(x1 + 0.5), bottom

    def _cleaned(self, gc: Any, path: Any, transform: Any, hollow: bool) -> tuple[bytes, int]:
        width = self.points_to_pixels(gc.get_linewidth()) if gc.get_rgb()[3] else 0.0
        clean = path.cleaned(
            self._flip @ transform.get_matrix(),
            remove_nans=True,
            clip=self._page if hollow else None,
            simplify=hollow and path.should_simplify,
            curves=True,
            stroke_width=width,
            snap=gc.get_snap(),
            sketch=gc.get_sketch_params(),
        )
        return pack(clean.vertices, clean.codes)

    def _shape(self, gc: Any, path: Any, matrix: np.ndarray) -> tuple[Any, bool]:
        """Clean a marker's path; say whether it was snapped to pixels."""
        width = self.points_to_pixels(gc.get_linewidth())
        clean = path.cleaned(
            matrix, remove_nans=True, curves=True, stroke_width=width, snap=gc.get_snap()
        )
        if gc.get_snap() is not None:
            return clean, bool(gc.get_snap())
        free = path.cleaned(matrix, remove_nans=True, curves=True, snap=False)
        return clean, not np.array_equal(free.vertices, clean.vertices)

    def _snaps(self, gc: Any, path: Any, matrix: np.ndarray, linewidths: Any) -> bool:
        if gc.get_snap() is not None:
            return bool(gc.get_snap())
        free = path.cleaned(matrix, remove_nans=True, curves=True, snap=False)
        width = self.points_to_pixels(linewidths[0]) if len(linewidths) else 0.0
        clean = path.cleaned(matrix, remove_nans=True, curves=True, stroke_width=width, snap=None)
        return not np.array_equal(free.vertices, clean.vertices)

    def _matrices(
        self, all_transforms: Any, master: Any, offsets: np.ndarray, count: int
    ) -> np.ndarray:
        """Give one 3 x 3 matrix per item, y downwards."""
        single = (
            np.asarray(all_transforms, float).reshape(-1, 3, 3)
            if len(all_transforms)
            else np.eye(3)[None]
        )
        matrices = (master.get_matrix() @ single)[np.arange(count) % len(single)]
        if len(offsets):
            matrices[:, :2, 2] += np.asarray(np.ma.filled(offsets, np.nan))[
                np.arange(count) % len(offsets)
            ]
        flipped: np.ndarray = self._flip @ matrices
        return flipped

    def _image_matrix(
        self, matrix: np.ndarray, x: float, y: float, width: int, height: int
    ) -> tuple[float, ...]:
        # The matrix takes the unit square to the canvas, y upwards; Agg puts upright images on
        # whole pixels.
        (a, c, e), (b, d, f) = matrix[:2].tolist()
        left, low, right, high = e + x, f + y, e + x + a, f + y + d
        if not b and not c:
            left, low, right, high = (math.floor(side + 0.5) for side in (left, low, right, high))
            a, d = right - left, high - low
        return a / width, -b / width, c / height, -d / height, left, self.height - low
