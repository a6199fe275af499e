"""A key: every entry beside its words, in as many columns as there is room for."""

from matplotlib.patches import PathPatch

from gradlab.figures._key import Key
from gradlab.figures._style import BLACK, BLUE, new_figure

ENTRIES = (({"fc": BLUE}, "a box"), ({"color": BLUE, "lw": 2}, "a line"), ({"s": "v3", "color": BLACK}, "a lettering"))


def test_every_kind_of_sample_stands_left_of_its_words() -> None:
    key = Key(new_figure(3, 1).add_subplot(), ENTRIES)
    assert [type(sample).__name__ for sample in key._samples] == ["PathPatch", "Line2D", "Text"]
    for columns in (1, 3, 2):
        key.arrange(columns, 6.0)
        places = [words.get_position() for words in key._words]
        assert len({x for x, _ in places}) == columns
        for sample, (x, y) in zip(key._samples, places, strict=True):
            if isinstance(sample, PathPatch):
                box = sample.get_path().get_extents()
                right, middle = box.x1, (box.y0 + box.y1) / 2
            else:
                line = hasattr(sample, "get_xdata")
                right, middle = (sample.get_xdata()[-1], sample.get_ydata()[0]) if line else sample.get_position()
            assert right < x and middle == y
