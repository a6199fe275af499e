"""Traces in, matplotlib figures out: one file per lab.

A view holds `figure`, whose moving artists are made with `animated=True`, and `draw(trace)`, which sets their data and
paints nothing. No pyplot, no files, no maths of its own.
"""

from ._style import BLACK as BLACK
from ._style import BLUE as BLUE
from ._style import DARK as DARK
from ._style import GREEN as GREEN
from ._style import ORANGE as ORANGE
from ._style import OTHER as OTHER
from ._style import moving_line as moving_line
from ._style import new_figure as new_figure
from ._style import tidy as tidy
