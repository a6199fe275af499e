"""A dark picture of a light figure: colors are turned round where they are painted, and no artist is touched."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.colors import to_rgb

from .display_list import color
from .lettering import Agg

PAGE = 0x11 / 255  # what white becomes
BRIGHTEST = 0.96  # the lightness that black becomes: pure white glares on a dark page
FLARE = 0.05  # the light that a screen reflects, in WCAG's contrast
# Linear sRGB to the response of the eye's cones, and the cube root of that to OKLab (Ottosson,
# 2020).
CONES = np.array(
    [[0.4122214708, 0.5363325363, 0.0514459929],
     [0.2119034982, 0.6806995451, 0.1073969566],
     [0.0883024619, 0.2817188376, 0.6299787005]]
)  # fmt: skip
OKLAB = np.array(
    [[0.2104542553, 0.7936177850, -0.0040720468],
     [1.9779984951, -2.4285922050, 0.4505937099],
     [0.0259040371, 0.7827717662, -0.8086757660]]
)  # fmt: skip
CONES_BACK, OKLAB_BACK = np.linalg.inv(CONES), np.linalg.inv(OKLAB)
RGB, ALPHA = 0x00FFFFFF, 0xFF000000


class Palette:
    """The dark counterpart of every color, to the nearest 1/255: its lightness turned round, its hue kept.

    Args:
        overrides: the counterparts to take for some colors, in any form that matplotlib reads.

    >>> palette = Palette({"red": "salmon"})
    >>> [hex(palette.word(word)) for word in (0xFFFFFFFF, 0x800000FF)]
    ['0xff111111', '0x807280fa']
    """

    def __init__(self, overrides: Mapping[Any, Any] | None = None) -> None:
        pairs = {
            color(to_rgb(light)): color(to_rgb(dark)) for light, dark in (overrides or {}).items()
        }
        self._dark = {light & RGB: dark & RGB for light, dark in pairs.items()}

    def word(self, word: int) -> int:
        """Give the counterpart of a color packed as `display_list.color` packs it; alpha stays."""
        rgb = word & RGB
        if rgb not in self._dark:
            self._dark[rgb] = color(_turned(_parts(rgb)).tolist()) & RGB
        return self._dark[rgb] | word & ALPHA

    def dark(self, rgb: Sequence[float]) -> tuple[float, ...]:
        """Give the counterpart of a color with parts from 0 to 1; a fourth part stays."""
        return (*_parts(self.word(color(rgb[:3]))), *rgb[3:])

    def all_dark(self, colors: np.ndarray) -> np.ndarray:
        """Give the counterparts of many colors (..., 3 or 4)."""
        colors = np.asarray(colors, float)
        different, places = np.unique(
            colors.reshape(-1, colors.shape[-1]), axis=0, return_inverse=True
        )
        return np.array([self.dark(one) for one in different])[places.ravel()].reshape(colors.shape)


class DarkAgg:
    """Agg with the colors of a palette.

    Images are data and Gouraud shading is rare: both stay as they are.

    It hands on to an Agg renderer instead of being one: how Agg binds its compiled methods, and
    which of its methods call others, doesn't matter here, and no color can be turned round twice.
    """

    def __init__(self, width: int, height: int, dpi: float, palette: Palette) -> None:
        self._agg: Any = Agg(width, height, dpi)
        self._palette = palette

    def __getattr__(self, name: str) -> Any:
        return getattr(self._agg, name)

    def draw_path(self, gc: Any, path: Any, transform: Any, rgbFace: Any = None) -> None:
        self._agg.draw_path(self._pen(gc), path, transform, self._face(rgbFace))

    def draw_markers(
        self,
        gc: Any,
        marker_path: Any,
        marker_trans: Any,
        path: Any,
        trans: Any,
        rgbFace: Any = None,
    ) -> None:
        self._agg.draw_markers(
            self._pen(gc), marker_path, marker_trans, path, trans, self._face(rgbFace)
        )

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
        *looks: Any,
        **hatching: Any,
    ) -> None:
        faces, edges = self._palette.all_dark(facecolors), self._palette.all_dark(edgecolors)
        hatching = {name: self._palette.all_dark(colors) for name, colors in hatching.items()}
        self._agg.draw_path_collection(
            self._pen(gc),
            master_transform,
            paths,
            all_transforms,
            offsets,
            offset_trans,
            faces,
            edges,
            *looks,
            **hatching,
        )

    def draw_quad_mesh(
        self,
        gc: Any,
        master_transform: Any,
        meshWidth: int,
        meshHeight: int,
        coordinates: Any,
        offsets: Any,
        offsetTrans: Any,
        facecolors: Any,
        antialiased: Any,
        edgecolors: Any,
    ) -> None:
        faces, edges = self._palette.all_dark(facecolors), self._palette.all_dark(edgecolors)
        self._agg.draw_quad_mesh(
            self._pen(gc),
            master_transform,
            meshWidth,
            meshHeight,
            coordinates,
            offsets,
            offsetTrans,
            faces,
            antialiased,
            edges,
        )

    def draw_text(self, gc: Any, *args: Any, **more: Any) -> None:
        self._agg.draw_text(self._pen(gc), *args, **more)

    def draw_tex(self, gc: Any, *args: Any, **more: Any) -> None:
        self._agg.draw_tex(self._pen(gc), *args, **more)

    def _pen(self, gc: Any) -> Any:
        pen = copy.copy(gc)
        pen.set_foreground(self._palette.dark(gc.get_rgb()), isRGBA=True)
        if gc.get_hatch() is not None:
            pen.set_hatch_color(self._palette.dark(gc.get_hatch_color()))
        return pen

    def _face(self, rgb: Any) -> Any:
        return None if rgb is None else self._palette.dark(rgb)


def _parts(word: int) -> tuple[float, float, float]:
    return (word & 255) / 255, (word >> 8 & 255) / 255, (word >> 16 & 255) / 255


def _turned(rgb: Sequence[float]) -> np.ndarray:
    lightness, a, b = OKLAB @ np.cbrt(CONES @ _linear(np.array(rgb)))
    # A gray keeps its contrast with the page: its luminance is the cube of its lightness, and
    # contrast is a quotient.
    luminance = (1 + FLARE) * (_linear(PAGE) + FLARE) / (lightness**3 + FLARE) - FLARE
    share = np.linspace(1, 0, 256)  # of the chroma: the largest that the screen can show
    turned = np.stack([np.full(256, min(np.cbrt(luminance), BRIGHTEST)), share * a, share * b])
    light = CONES_BACK @ (OKLAB_BACK @ turned) ** 3
    shown = (np.abs(light - 0.5) < 0.5001).all(axis=0)
    return _encoded(light[:, shown.argmax()].clip(0, 1))


def _linear(levels: np.ndarray | float) -> np.ndarray:
    return np.where(levels <= 0.04045, levels / 12.92, ((levels + 0.055) / 1.055) ** 2.4)


def _encoded(light: np.ndarray) -> np.ndarray:
    return np.where(light <= 0.0031308, 12.92 * light, 1.055 * light ** (1 / 2.4) - 0.055)
