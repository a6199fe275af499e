"""The view of a recorded run: bars count every step once, and axes follow a new recording."""

import numpy as np
import pytest
from matplotlib.figure import Figure

from gradlab import Recorder
from gradlab.labs import clipping
from gradlab.labs._clipping.picture import ClippingPicture, RunData, RunLoss, bar_path
from gradlab.live.drawing.style import ORANGE_TEXT, log_ticks
from gradlab.live.scene import Scene
from gradlab.models import char_rnn


def test_bars_are_as_long_as_their_counts_and_as_thick_as_asked() -> None:
    bars = bar_path(
        np.array([0, 5, 2]),
        np.array([3, 0, 4]),
        np.array([1.0, 10.0, 100.0, 1000.0]),
        thickness=0.5,
    )
    corners = bars.vertices.reshape(-1, 5, 2)
    assert corners[:, :2, 0].tolist() == [[0, 3], [2, 6]]
    np.testing.assert_allclose(np.log10(corners[:, 1:3, 1]), [[0.25, 0.75], [2.25, 2.75]])
    assert np.isnan(bar_path(np.zeros(2), np.zeros(2), np.array([1.0, 10.0, 100.0])).vertices).all()


def test_bars_of_steps_left_alone_go_on_where_those_of_fired_ones_end() -> None:
    lab = clipping(limit=1.0, method="norm")
    view, answer = lab.make_view(), lab.compute(lab.params)
    lab.draw(view, answer)
    calm, fired = (bars.get_path().vertices.reshape(-1, 5, 2) for bars in view.counts.bars)
    lengths = np.array([(bars[:, 1, 0] - bars[:, 0, 0]).sum() for bars in (calm, fired)])
    counts = np.array([(~answer.what_if.fired).sum(), answer.what_if.fired.sum()])
    fullest = np.histogram(answer.what_if.norm_before, view.counts.bins)[0].max()
    np.testing.assert_allclose(lengths * fullest, counts)
    assert max(fired[:, 1, 0].max(), calm[:, 1, 0].max()) == 1 < view.counts.axes.get_xlim()[1] / 2
    ends = dict(zip(np.log10(fired[:, 1:3, 1]).mean(axis=1).round(3), fired[:, 1, 0], strict=True))
    for place, start in zip(
        np.log10(calm[:, 1:3, 1]).mean(axis=1).round(3), calm[:, 0, 0], strict=True
    ):
        assert start == pytest.approx(ends.get(place, 0))


@pytest.mark.parametrize("limit", [1.0, 6.3, 7.5, 100.0])
def test_no_step_above_the_limit_is_drawn_as_untouched(limit: float) -> None:
    lab = clipping(limit=limit)
    view, answer = lab.make_view(), lab.compute(lab.params)
    lab.draw(view, answer)
    calm, fired = (bars.get_path().vertices.reshape(-1, 5, 2) for bars in view.counts.bars)
    assert not np.isfinite(calm).any() or calm[:, :, 1].max() <= limit * (1 + 1e-9)
    assert not np.isfinite(fired).any() or fired[:, :, 1].min() >= limit


def test_no_merged_step_above_the_limit_is_drawn_as_untouched() -> None:
    rec = Recorder(64)
    for k in range(400):
        rec.record({"w": np.array([0.5 + 0.001 * (37 * k % 400)])})
    lab = clipping(rec, limit=0.668)
    view, answer = lab.make_view(), lab.compute(lab.params)
    lab.draw(view, answer)
    assert rec.stride == 8
    calm, fired = (bars.get_path().vertices.reshape(-1, 5, 2) for bars in view.counts.bars)
    assert calm[:, :, 1].max() <= 0.668 * (1 + 1e-9) and fired[:, :, 1].min() >= 0.668


def test_a_new_recording_replaces_curves_and_limits() -> None:
    free, limited = (
        RunLoss("no limit", np.full((2, 10), 5.0), 5.0, is_unlimited=True),
        RunLoss("limit 1", np.full((2, 10), 3.0), 3.0),
    )
    view = ClippingPicture(RunData(10, 1, (0.5, 20.0), [free, limited], "loss"))
    before = len([line for line in view.losses.axes.lines if not line.get_animated()])
    view.show_runs(RunData(50, 1, (0.1, 1e4), [RunLoss("no limit", np.full((2, 50), 5.0))], "loss"))
    still = [line for line in view.losses.axes.lines if not line.get_animated()]
    assert (before, len(still)) == (2, 1)
    assert view.norms.axes.get_xlim()[1] == 52
    low, high = view.norms.axes.get_ylim()
    assert low < 0.1 < 1e4 < high < 2e4
    assert view.norms.axes.get_yscale() == "log"


@pytest.mark.parametrize("count", [2, 9, 12])
def test_every_run_of_a_recording_is_named(count: int) -> None:
    rec = Recorder()
    for step in range(1, 4):
        rec.record({"w": np.ones(2) * step}, loss=step)
    lab = clipping({0.5 * limit: rec for limit in range(1, count + 1)})
    view = lab.make_view()
    lab.draw(view, lab.compute(lab.params))
    Scene(view.figure).frame(1.0)
    names = [name.get_text() for name in view.losses.names._names if name.get_visible()]
    assert names == [f"limit {0.5 * limit:g}" for limit in range(1, count + 1)]


@pytest.mark.parametrize(
    ("limits", "texts"),
    [
        ((0.1, 1.4e5), ["0.1", "1", "10", "100", "1,000", "10⁴", "10⁵"]),
        ((1.7, 90), ["2", "5", "10", "20", "50"]),
        ((1.0, 7), ["1", "2", "5"]),
        ((2.1, 2.9), ["2.2", "2.4", "2.6", "2.8"]),
        ((1e-8, 1e-6), ["10⁻⁸", "2e-08", "5e-08", "10⁻⁷", "2e-07", "5e-07", "10⁻⁶"]),
    ],
)
def test_log_axes_have_few_plain_ticks_at_any_distance(
    limits: tuple[float, float], texts: list[str]
) -> None:
    axes = Figure().add_subplot()
    axes.set(yscale="log", ylim=limits)
    log_ticks(axes.yaxis)
    low, high = limits
    ticks = [tick for tick in axes.get_yticks() if low * 0.999 <= tick <= high * 1.001]
    assert [axes.yaxis.get_major_formatter()(tick) for tick in ticks] == texts


def test_curves_are_named_with_their_rates_and_the_chosen_one_is_heavy() -> None:
    lab = clipping(limit=3.0)
    view = lab.make_view()
    lab.draw(view, lab.compute(lab.params))
    named = {
        name.get_text(): name.get_weight()
        for name in view.losses.names._names
        if name.get_visible()
    }
    rates = char_rnn.TUNED
    heavy = f"limit 3, rate {rates[3.0]:g}"
    others = [f"limit {limit:g}, rate {rates[limit]:g}" for limit in (0.1, 0.3, 1.0)]
    free = ["no limit, rate 0.4", f"no limit, rate {rates[None]:g}"]
    assert named == {**dict.fromkeys([*free, *others, "the run above"], "normal"), heavy: "bold"}
    Scene(view.figure).frame(1.0)  # names find their places when they are painted
    numbers = [number for number in view.losses.names.numbers if number.get_visible()]
    settings = [(None, 0.4), *rates.items()]
    medians = [f"{np.median(char_rnn.final_losses(*setting)):.2f}" for setting in settings]
    assert [number.get_text() for number in numbers] == [
        *medians,
        f"{lab.runs['none']['loss'][-char_rnn.AT_END :].mean():.2f}",
    ]
    assert len({number.get_position()[0] for number in numbers}) == 1, "one column"
    for number, name in zip(numbers, view.losses.names._names, strict=False):
        assert number.get_position()[1] == name.get_position()[1]
    assert view.losses.axes.get_title("left") == "Loss: medians and quartiles of 10 runs"


@pytest.mark.parametrize(("narrow", "name"), [(False, "the run above"), (True, "this run")])
def test_the_thin_line_of_the_recorded_run_is_named_at_its_end(narrow: bool, name: str) -> None:
    lab = clipping()
    view = lab.make_view()
    view.arrange(narrow)
    lab.draw(view, lab.compute(lab.params))
    assert [words.get_text() for words in view.losses.names._names if words.get_visible()][
        -1
    ] == name
    assert view.losses.names._names[6].get_color() == ORANGE_TEXT
    assert view.losses.names._ends[6, 1] > 0.5, "where the run ends, above all medians"


def test_lines_of_losses_are_medians_over_runs_smoothed_and_the_recorded_run_is_thin() -> None:
    lab = clipping(limit=3.0, run="1")
    view, loss = lab.make_view(), np.median(char_rnn.seed_losses(3.0, char_rnn.TUNED[3.0]), axis=0)
    lab.draw(view, lab.compute(lab.params))
    np.testing.assert_array_equal(view.losses.raw.get_ydata(), lab.runs["1"]["loss"])
    middle = [np.median(loss[max(0, k - 3) : k + 4]) for k in range(len(loss))]
    np.testing.assert_allclose(view.losses.heavy.get_ydata(), middle)
    still = [line for line in view.losses.axes.lines if not line.get_animated()]
    np.testing.assert_allclose(still[5].get_ydata(), middle)
    assert view.losses.heavy.get_linewidth() > 2 * max(line.get_linewidth() for line in still)
    assert "medians of up to 7 steps" in view.losses.axes.get_xlabel()


def test_all_losses_of_every_recorded_run_are_in_the_panel() -> None:
    lab = clipping()
    low, high = lab.make_view().losses.axes.get_ylim()
    for run in lab.runs.values():
        assert low < run["loss"].min() and run["loss"].max() < high


def test_a_band_is_drawn_from_quartile_to_quartile_of_the_runs() -> None:
    view = clipping().make_view()
    bands = [band for band in view.losses.axes.collections if not band.get_animated()]
    assert len(bands) == 6
    low, high = np.percentile(char_rnn.seed_losses(None, 0.4), (25, 75), axis=0)
    edges = bands[0].get_paths()[0].vertices
    at_100 = edges[edges[:, 0] == 100, 1]
    assert at_100.min() == pytest.approx(np.median(low[97:104]))
    assert at_100.max() == pytest.approx(np.median(high[97:104]))


def test_dots_leave_the_line_of_the_limit_to_be_seen() -> None:
    for method, most in (("global", 60), ("norm", 300)):
        lab = clipping(limit=1.0, method=method)
        view = lab.make_view()
        lab.draw(view, lab.compute(lab.params))
        assert most / 2 < len(view.norms.after.get_xdata()) <= most


@pytest.mark.parametrize(
    ("run", "limit", "shown"), [("0.3", 0.01, [False, True]), ("1", 1000.0, [True, False])]
)
def test_a_count_of_none_is_not_written(run: str, limit: float, shown: list[bool]) -> None:
    lab = clipping(limit=limit, run=run)
    view = lab.make_view()
    lab.draw(view, lab.compute(lab.params))
    assert [
        count.get_visible() for count in (view.counts.untouched_label, view.counts.clipped_label)
    ] == shown


def test_the_turn_is_drawn_where_steps_turn() -> None:
    for method, drawn in (("global", False), ("norm", True)):
        lab = clipping(limit=1.0, method=method)
        view = lab.make_view()
        lab.draw(view, lab.compute(lab.params))
        strip = view.norms.turns
        assert {artist.get_visible() for artist in (strip.box, strip.angle, strip.title)} == {drawn}
        assert strip.title.get_text() == "Turn of every step, median 30.6°" * drawn
        assert (
            view.counts.clipped_label.get_text()
            == f"{lab.compute(lab.params).what_if.fired.sum()} clipped"
        )


def test_norms_that_the_clip_takes_below_the_panel_are_counted() -> None:
    lab = clipping(limit=0.001, method="value")
    view = lab.make_view()
    lab.draw(view, lab.compute(lab.params))
    below = view.norms.below_label
    assert below.get_visible() and below.get_text() == "↓ 300 dots are lower after the clip"
    scene = Scene(view.figure)
    scene.zoom(0, [0.5, 0.6], [0.0, 1.0])
    lab.draw(view, lab.compute(lab.params))
    assert 20 < int(below.get_text().split()[1]) < 40, "of a tenth of the steps"
    scene.unzoom()
    scene.zoom(0, [0.0, 1.0], [0.7, 1.0])
    lab.draw(view, lab.compute(lab.params))
    assert 1 <= int(below.get_text().split()[1]) < 10, "of the explosions, which alone are in sight"
    scene.unzoom()
    lab.draw(view, lab.compute(lab.params | {"limit": 0.6}))
    assert not below.get_visible()


def test_a_mean_above_all_medians_is_named_at_the_edge() -> None:
    loss = np.stack([np.arange(300.0), np.full(300, 2.0)])
    runs = [RunLoss("no limit", loss, 9.0, is_unlimited=True), RunLoss("limit 1", loss, 2.0)]
    view, lab = ClippingPicture(RunData(300, 1, (0.5, 20.0), runs, "loss")), clipping()
    answer = lab.compute(lab.params)
    view.draw(answer.what_if, answer.steps, None)
    assert view.losses.axes.get_ylim()[1] < 9 and view.losses.names._names[0].get_visible()


def test_who_looks_closer_sees_norms_without_a_strip_and_names_where_curves_leave_the_panel() -> (
    None
):
    lab = clipping(limit=1.0, method="norm")
    view, answer = lab.make_view(), lab.compute(lab.params)
    lab.draw(view, answer)
    assert view.norms.turns.box.get_visible() and view.norms.peak_label.get_visible()
    scene = Scene(view.figure)
    scene.zoom(0, [0.2, 0.6], [0.1, 0.6])
    lab.draw(view, answer)
    assert not view.norms.turns.box.get_visible() and not view.norms.peak_label.get_visible()
    scene.frame(1.0)
    right, to_panel = (
        view.losses.axes.get_xlim()[1],
        view.losses.axes.transScale + view.losses.axes.transLimits,
    )
    still = [line for line in view.losses.axes.lines if not line.get_animated()]
    ends = [np.interp(right, *line.get_data()) for line in still]
    assert all(name.get_visible() for name in view.losses.names._names[: len(ends)])
    heights = [name.get_position()[1] for name in view.losses.names._names[: len(ends)]]
    expected = [to_panel.transform((right, end))[1] for end in ends]
    np.testing.assert_array_equal(np.argsort(heights), np.argsort(expected))
    assert heights[0] == max(heights), "without a limit at rate 0.4"
    scene.zoom(0, [0.0, 1.0], [0.5, 0.9])
    scene.unzoom()
    lab.draw(view, answer)
    assert view.norms.turns.box.get_visible() and view.norms.peak_label.get_visible()
