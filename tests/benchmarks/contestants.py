"""The figures whose sliders are timed: gradlab's, and the same picture made with what people use
otherwise.

Every one shows the same 800 x 400 pixels: five moving lines of 500 points with axes, grid and text,
and a moving image of 64 x 64; one slider from 0 to 400. Each is the source of a one-cell notebook.
"""

from __future__ import annotations

from dataclasses import dataclass

from tests.benchmarks.bare import ALL_FRAMES, CANVAS, DATA

MATPLOTLIB = """\
def build(figure, moving=False):
    left, right = figure.subplots(1, 2)
    left.set(xlim=(0, 10), ylim=(-1.5, 1.5), xlabel="x", ylabel="value", title="five lines")
    left.grid(True)
    curves = [left.plot(X, y, animated=moving)[0] for y in lines(200)]
    text = left.text(0.3, 1.3, words(200), animated=moving)
    picture = right.imshow(image(200), vmin=-1, vmax=1, interpolation="none", animated=moving)
    return curves, text, picture
def change(artists, k):
    curves, text, picture = artists
    for curve, y in zip(curves, lines(k)): curve.set_ydata(y)
    text.set_text(words(k))
    picture.set_data(image(k))
"""

SLIDER = """\
from ipywidgets import IntSlider, Layout, VBox
slider = IntSlider(value=200, min=0, max=400, layout=Layout(width="500px"))
"""

LAB = """\
import gradlab as gl
gl.labs.clipping()
"""

# The same lab with the kernel in the loop: nothing is made ahead.
ASKING = """\
from gradlab.labs._clipping.lab import ClippingLab
class Asking(ClippingLab):
    axis = None
Asking()
"""

LIVE = (
    DATA
    + MATPLOTLIB
    + """\
from matplotlib.figure import Figure
from gradlab.live import Description, LiveFigure, Slider
figure = Figure(figsize=(8, 4), dpi=100)
artists = build(figure, moving=True)
def update(values):
    change(artists, values["k"])
    return Description(words(values["k"]), words(values["k"]))
LiveFigure(figure, [Slider("k", "k", 0, 400, 200, scale="integer")], update, label="same picture", axis=AXIS)
"""
)

INTERACT = (
    DATA
    + MATPLOTLIB
    + SLIDER
    + """\
%matplotlib inline
import matplotlib.pyplot as plt
from ipywidgets import interact
@interact(k=slider)
def show(k):
    change(build(plt.figure(figsize=(8, 4), dpi=100)), k)
    plt.show()
"""
)

IMAGE = (
    DATA
    + MATPLOTLIB
    + SLIDER
    + """\
import io
from ipywidgets import Image
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
figure = Figure(figsize=(8, 4), dpi=100)
canvas, artists = FigureCanvasAgg(figure), build(figure)
def png(k):
    change(artists, k)
    canvas.print_png(data := io.BytesIO())
    return data.getvalue()
picture = Image(value=png(200), format="png")
slider.observe(lambda event: setattr(picture, "value", png(event["new"])), "value")
VBox([slider, picture])
"""
)

IPYMPL = (
    DATA
    + MATPLOTLIB
    + SLIDER
    + """\
%matplotlib widget
import matplotlib.pyplot as plt
plt.ioff()
figure = plt.figure(figsize=(8, 4), dpi=100)
artists = build(figure)
def moved(event):
    change(artists, event["new"])
    figure.canvas.draw_idle()
slider.observe(moved, "value")
VBox([slider, figure.canvas])
"""
)

PLOTLY = (
    DATA
    + SLIDER
    + """\
import plotly.graph_objects as go
from plotly.subplots import make_subplots
figure = go.FigureWidget(make_subplots(rows=1, cols=2))
figure.update_layout(width=800, height=400, title="five lines")
for y in lines(200): figure.add_scatter(x=X, y=y, row=1, col=1)
figure.add_heatmap(z=image(200), zmin=-1, zmax=1, row=1, col=2)
def moved(event):
    with figure.batch_update():
        for trace, y in zip(figure.data, lines(event["new"])): trace.y = y
        figure.data[5].z = image(event["new"])
        figure.layout.title.text = words(event["new"])
slider.observe(moved, "value")
VBox([slider, figure])
"""
)


@dataclass(frozen=True)
class Contestant:
    """One row of the table: its name, the cell, and the packages it needs beyond gradlab's own."""

    name: str
    source: str
    needs: tuple[str, ...] = ()


CONTESTANTS = (
    Contestant("gradlab: clipping lab, made ahead", LAB),
    Contestant("gradlab.live, the peers' picture, made ahead", LIVE.replace("AXIS", "'k'")),
    Contestant("raw anywidget canvas, no axes, all frames in the page", ALL_FRAMES),
    Contestant("gradlab: clipping lab, asking the kernel", ASKING),
    Contestant("gradlab.live, the peers' picture, asking the kernel", LIVE.replace("AXIS", "None")),
    Contestant("raw anywidget canvas, no axes", CANVAS),
    Contestant("plotly FigureWidget, batch_update", PLOTLY, ("plotly",)),
    Contestant("ipywidgets.Image, persistent figure, PNG", IMAGE),
    Contestant("ipympl, draw_idle", IPYMPL, ("ipympl",)),
    Contestant("interact, inline matplotlib", INTERACT),
)
