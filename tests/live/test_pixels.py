"""The browser paints what Agg paints: every kind of moving artist, in light and in dark, compared
pixel by pixel.
"""

import base64
import io
from typing import Any

import matplotlib.image
import numpy as np
import pytest

from gradlab.live.scene import Scene
from tests.live.gallery import GALLERY, build

pytestmark = pytest.mark.browser

# Two rasterizers never agree on every edge pixel. MEAN bounds the mean difference over all pixels
# and channels (of 255), FAR the share of pixels off by more than a third of the range: a wrong
# shape, color, place or clip breaks it.
MEAN, FAR = 0.3, 0.0005
# The edges of image cells fall on other pixels when Agg cuts the image at the Axes first, or is
# that of matplotlib 3.9.
CELLS = 0.4, 0.003


def painted(page: Any, scene: Scene, ratio: float, dark: bool) -> np.ndarray:
    still, frame = scene.still(ratio, dark), scene.frame(ratio)
    data = page.evaluate(
        """async ([still, list, scheme]) => {
          const image = new Image();
          image.src = "data:image/png;base64," + still;
          await image.decode();
          const [width, height] = [image.naturalWidth, image.naturalHeight];
          const moving = Object.assign(document.createElement("canvas"), { width, height });
          const both = Object.assign(document.createElement("canvas"), { width, height });
          window.paint(moving, list, scheme);
          const ctx = both.getContext("2d");
          ctx.drawImage(image, 0, 0);
          ctx.drawImage(moving, 0, 0);
          return both.toDataURL();
        }""",
        [
            base64.b64encode(still).decode(),
            base64.b64encode(frame).decode(),
            list(scene.colors.items()) if dark else None,
        ],
    )
    return matplotlib.image.imread(io.BytesIO(base64.b64decode(data.split(",")[1])))[..., :3]


# Sizes and colors, each by itself.
@pytest.mark.parametrize(("ratio", "theme"), [(1.0, "dark"), (2.0, "light")])
@pytest.mark.parametrize("name", GALLERY)
def test_the_browser_paints_what_agg_paints(page: Any, name: str, ratio: float, theme: str) -> None:
    scene, dark = Scene(build(name), {"C0": "#4489F7"}), theme == "dark"
    seen = painted(page, scene, ratio, dark)
    expected = matplotlib.image.imread(io.BytesIO(scene.png(100 * ratio, dark)))[..., :3]
    difference = 255 * np.abs(seen - expected)
    far = (difference.max(axis=2) > 85).mean()
    mean_bound, far_bound = CELLS if "image" in name else (MEAN, FAR)
    assert difference.mean() < mean_bound
    assert far < far_bound
