"""`gradlab grade`: right answers score, wrong ones are named, and no student changes anybody's
marks.

Here podman is a stand-in that runs a container's command on this machine. So what a container keeps
out is podman's to test; its command line, limits, replies, and marks are tested here.
"""

from __future__ import annotations

import csv
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import gradlab as gl
from gradlab import __main__ as command
from gradlab._app.grading import marks, place, submissions
from gradlab._app.grading.answers import draw_question, judge
from gradlab._base.notebooks import UsageError
from gradlab.exercises.catalog import EXERCISES
from gradlab.exercises.questions import Choice

START = "import numpy as np\nimport gradlab as gl"
CHECK_NORM = "\ngl.exercises.check('start.norm', norm)"
CHECK_STEP = "\ngl.exercises.check('start.descent', step)"
NORM = EXERCISES["start.norm"].solution + CHECK_NORM
STEP = EXERCISES["start.descent"].solution + CHECK_STEP
SIGN = "gl.exercises.choose('start.sign', 'b')"
RIGHT = [START, SIGN, NORM, STEP]

Marks = dict[tuple[str, str], dict[str, str]]


def hand_in(folder: Path, student: str, *cells: str, notebook: str = "00_start_here") -> None:
    (folder / student).mkdir(parents=True, exist_ok=True)
    code = [{"cell_type": "code", "source": cell} for cell in cells]
    (folder / student / f"{notebook}.ipynb").write_text(json.dumps({"cells": code}))


def grade(folder: Path, *options: str) -> Marks:
    output = folder.parent / "marks.csv"
    assert command.main(["grade", str(folder), "-o", str(output), *options]) == 0
    return read_marks(output)


def read_marks(path: Path) -> Marks:
    with path.open(newline="", encoding="utf-8") as file:
        return {(line["student"], line["exercise"]): line for line in csv.DictReader(file)}


@pytest.fixture
def podman(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A podman that runs what it is given on this machine. Returns the log of its arguments."""
    programs = tmp_path / "programs"
    programs.mkdir()
    log = tmp_path / "podman.log"
    scripts = {
        "podman": f'echo "$@" >> {log}\n[ "$1" = run ] || exit 0\n'
        'while [ "$1" != class-image ]; do shift; done\nshift\nexec "$@"',
        "python3": f'exec {sys.executable} "$@"',
    }
    for name, script in scripts.items():
        (programs / name).write_text(f"#!/bin/sh\n{script}\n")
        (programs / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("PYTHONPATH", str(Path(place.__file__).parents[3]))
    return log


# A class


def test_each_student_gets_marks_whatever_the_others_hand_in(
    tmp_path: Path,
    podman: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(place.Limits, "cell_seconds", 3.0)
    folder = tmp_path / "class"
    hand_in(folder, "right", *RIGHT)
    adds_absolute_values = NORM.replace("np.sqrt(", "(").replace("(g * g)", "np.abs(g)")
    hand_in(folder, "wrong", START, "gl.exercises.choose('start.sign', 'a')", adds_absolute_values)
    one_line = f"{EXERCISES['start.descent'].starter.rstrip()}[0] - lr * grads[0]"
    hand_in(folder, "one line", START, one_line + CHECK_STEP)
    untouched = f"# To do\n{EXERCISES['start.norm'].starter}\n\n{CHECK_NORM}"
    hand_in(folder, "untouched", START, "gl.exercises.choose('start.sign')", untouched)
    hand_in(folder, "syntax", START, "def norm(grads:\n" + CHECK_NORM, STEP)
    hand_in(folder, "loops", START, "while True:\n    pass" + CHECK_NORM, STEP)
    hand_in(
        folder,
        "exits",
        START,
        "import sys\nsys.exit()",
        SIGN,
        "def norm(grads):\n    sys.exit()" + CHECK_NORM,
        STEP,
    )
    hand_in(
        folder,
        "leaves",
        START,
        SIGN,
        "def norm(grads):\n    import os; os._exit(3)" + CHECK_NORM,
        STEP,
    )
    hand_in(folder, "=noisy", START, "print('{}' * 10**6)\nimport os\nos.write(1, b'{}')", NORM)
    (folder / "broken").mkdir()
    (folder / "broken" / "00_start_here.ipynb").write_text("[" * 100_000)
    latin1 = os.fsencode(folder) + b"/M\xfcller"
    os.mkdir(latin1)
    with open(latin1 + b"/00_start_here.ipynb", "wb") as file:
        file.write((folder / "right" / "00_start_here.ipynb").read_bytes())

    result = grade(folder, "--in", "podman:class-image")

    scores = {key: line["score"] for key, line in result.items()}
    mistakes = {key: line["mistake"] for key, line in result.items()}
    for student in ("right", "M\\xfcller"):
        assert {
            scores[student, name] for name in ("start.sign", "start.descent", "start.norm")
        } == {"1"}
    assert mistakes["wrong", "start.sign"].startswith("(a) The gradient points")
    assert mistakes["wrong", "start.norm"] == "That adds absolute values. The norm adds squares."
    assert mistakes["one line", "start.descent"] not in marks.NO_ANSWER
    assert (mistakes["untouched", "start.sign"], mistakes["untouched", "start.norm"]) == (
        "not tried",
        "not tried",
    )
    assert result["untouched", "start.norm"]["said"] == ""  # no hint
    assert mistakes["syntax", "start.norm"] == "its cell failed"
    assert result["syntax", "start.norm"]["said"].startswith("SyntaxError")
    assert result["loops", "start.norm"]["said"] == "it ran for more than 3 seconds"
    assert result["exits", "start.norm"]["said"].startswith("For grads = ")
    assert "SystemExit" in result["exits", "start.norm"]["said"]
    assert result["leaves", "start.norm"]["said"] == "its process ended early, with status 3"
    assert [scores[student, "start.descent"] for student in ("syntax", "loops", "exits")] == [
        "1"
    ] * 3
    assert [scores[student, "start.sign"] for student in ("exits", "leaves")] == ["1"] * 2
    assert scores["'=noisy", "start.norm"] == "1"
    assert mistakes["broken", ""] == "cannot be graded"
    assert mistakes["broken", "start.norm"] == "not handed in"

    counts = {
        student: len([1 for who, name in result if who == student and name])
        for student, _ in result
    }
    assert set(counts.values()) == {4}  # blank, full, and broken notebooks have one denominator

    page = (tmp_path / "marks.html").read_text()
    assert (
        "<td>That adds absolute values. The norm adds squares.</td><td>1 of 11</td><td>wrong</td>"
        in page
    )
    assert "broken  00_start_here  it cannot be read as a notebook" in capsys.readouterr().out
    assert "M\\xfcller" in page


def test_a_container_gets_its_limits_on_the_command_line(
    tmp_path: Path, podman: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hand_in(tmp_path / "class", "right", START, NORM)

    grade(tmp_path / "class", "--in", "podman:class-image", "--seconds", "77", "--memory", "2000")

    words = podman.read_text().splitlines()[-1].split()
    assert words[0] == "run"
    before_image = words[: words.index("class-image")]
    assert {
        "--network=none",
        "--cap-drop=all",
        "--read-only",
        "--memory=2000m",
        "--memory-swap=2000m",
    } <= {*before_image}
    assert {"--security-opt=no-new-privileges", "--pids-limit=256", "--user=1000:1000"} <= {
        *before_image
    }
    assert not any(word.startswith(("--volume", "-v", "--mount")) for word in before_image)
    assert words[words.index("class-image") + 1 :][:3] == ["timeout", "--signal=KILL", "77"]


def test_marks_are_saved_after_each_student(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hand_in(tmp_path / "class", "ann", *RIGHT)
    hand_in(tmp_path / "class", "bob", *RIGHT)
    real = place.run_notebook
    runs = []

    def run_one(*arguments: object) -> place.Reply:
        runs.append(arguments)
        if len(runs) == 2:
            raise KeyboardInterrupt
        return real(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(marks, "run_notebook", run_one)
    output = tmp_path / "marks.csv"

    with pytest.raises(KeyboardInterrupt):
        command.main(["grade", str(tmp_path / "class"), "-o", str(output), "--trust"])

    assert read_marks(output)["ann", "start.norm"]["score"] == "1"
    assert "ann" in (tmp_path / "marks.html").read_text()


def test_an_error_of_the_grader_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hand_in(tmp_path / "class", "ann", *RIGHT)

    def fail(*arguments: object) -> place.Reply:
        raise RuntimeError("the disk is \ud800 gone")

    monkeypatch.setattr(marks, "run_notebook", fail)

    result = grade(tmp_path / "class", "--trust")

    assert result["ann", ""]["said"] == "RuntimeError: the disk is \ufffd gone"


# Hostile notebooks


def test_a_hostile_notebook_harms_only_itself(tmp_path: Path, podman: Path) -> None:
    folder = tmp_path / "class"
    hand_in(folder, "victim", START, NORM)
    looks_up = (
        "from gradlab.exercises.key import value\ngl.exercises.check('start.norm', "
        "value('start.norm'))"
    )
    patches = "gl.exercises.check = lambda *a: type('Yes', (), {'right': True})()"
    hand_in(
        folder, "cheat", START, looks_up, patches, "def norm(grads):\n    return 1.0" + CHECK_NORM
    )
    # Writes into its reply: an exercise of a different notebook, a different student, values of no
    # form.
    forges = """
import json, os
empty = {"array": [], "dtype": "f8", "shape": [10**9, 0]}
lines = [
    {"exercise": "clipping.below", "value": "b"},
    {"student": "victim", "exercise": "start.descent", "score": 1},
    {"exercise": "start.norm", "results": [{"given": empty, "arguments": []}]},
    {"exercise": "start.sign", "right": True},
    {"exercise": "start.units", "value": "=1+1\\ud800"},
]
text = "".join(json.dumps(line) + "\\n" for line in lines).encode() + b"[" * 10**5
for number in range(3, 20):
    try:
        os.write(number, text)
    except OSError:
        pass
os._exit(0)
"""
    hand_in(folder, "forger", START, forges)

    result = grade(folder, "--in", "podman:class-image")

    assert result["victim", "start.norm"]["score"] == "1"
    assert {line["score"] for (student, _), line in result.items() if student != "victim"} == {"0"}
    assert {name for student, name in result if student == "forger"} == {
        name for name in EXERCISES if name.startswith("start.")
    }
    assert result["forger", "start.norm"]["said"]


@pytest.mark.exhaustive
def test_what_swallows_the_alarm_is_stopped_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(place, "_GRACE", 0.0)
    stubborn = "import signal\nsignal.setitimer(signal.ITIMER_REAL, 0)\nwhile True: pass"

    reply = place.run_notebook(place.THIS_ACCOUNT, place.Limits(2.0), [stubborn], {}, {})

    assert reply.end == "it took more than 2 seconds and was stopped"


def test_more_than_a_reply_can_hold_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(place, "_LONGEST_REPLY", 100_000)
    floods = """
import os
while True:
    for number in range(3, 9):
        try:
            os.write(number, b"x" * 9999)
        except OSError:
            pass
"""

    reply = place.run_notebook(place.THIS_ACCOUNT, place.Limits(60.0), [floods], {}, {})

    assert reply.end == "it wrote more than answers can hold and was stopped"


def test_memory_is_limited_before_python_starts() -> None:
    eats = "x = bytearray(10**9)"
    replaced = "import resource\nresource.setrlimit = lambda *a: None"

    reply = place.run_notebook(
        place.THIS_ACCOUNT, place.Limits(60.0, 1000), [replaced, eats], {}, {}
    )

    assert reply.troubles[1].startswith("MemoryError")


@pytest.mark.exhaustive
def test_a_process_that_leaves_its_session_does_not_hold_the_grader_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(place, "_GRACE", 0.0)
    leaves = "import os, time\nif os.fork() == 0:\n    os.setsid()\n    time.sleep(20)\nos._exit(0)"

    reply = place.run_notebook(place.THIS_ACCOUNT, place.Limits(2.0), [leaves], {}, {})

    assert reply.end


@pytest.mark.exhaustive
def test_a_container_that_does_not_end_is_killed_by_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(place, "_GRACE", 0.0)
    program = tmp_path / "podman"
    log = tmp_path / "log"
    program.write_text(f'#!/bin/sh\necho "$@" >> {log}\n[ "$1" = kill ] || exec sleep 60\n')
    program.chmod(0o755)

    reply = place.run_notebook(
        place.Container(str(program), "image"), place.Limits(1.0), [], {}, {}
    )

    run, kill = log.read_text().splitlines()
    assert f"--name={kill.removeprefix('kill ')} " in run
    assert reply.end == "it took more than 1 seconds and was stopped"


@pytest.mark.parametrize(
    "line",
    [
        {},
        {"value": {"array": 1}},
        {"results": 3},
        {"results": [None]},
        {"results": [{"raised": "BaseException", "text": 3}]},
        {"results": [{"given": None}]},
        {"results": [{"given": 1, "arguments": 7}]},
        {"results": [{"given": "1", "arguments": [[1]] * 99}]},
    ],
)
@pytest.mark.parametrize("exercise", ["start.sign", "start.norm", "three_steps.minimize"])
def test_a_line_that_no_notebook_writes_is_a_wrong_answer(
    exercise: str, line: dict[str, object]
) -> None:
    assert not judge(draw_question(exercise, 0), line).right


# Where notebooks run


def test_nothing_runs_before_the_teacher_says_where(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    hand_in(tmp_path / "class", "right", *RIGHT)
    output = tmp_path / "marks.csv"

    assert command.main(["grade", str(tmp_path / "class"), "-o", str(output)]) == 2

    assert (
        "--in podman:IMAGE or --in docker:IMAGE for a container, or --trust"
        in capsys.readouterr().err
    )
    assert not output.exists()


@pytest.mark.parametrize("container", ["podman", "podman:", "lxc:image", "podman:--privileged"])
def test_a_place_is_a_program_and_an_image(
    container: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    hand_in(tmp_path / "class", "right", *RIGHT)
    assert command.main(["grade", str(tmp_path / "class"), "--in", container]) == 2
    assert "--in takes podman:IMAGE or docker:IMAGE" in capsys.readouterr().err


def test_a_place_where_no_notebook_runs_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "podman"
    container = place.Container(str(program), "image")
    with pytest.raises(UsageError, match=r"cannot start .*podman: No such file or directory"):
        place.check_place(container, 1000)

    program.write_text("#!/bin/sh\necho 'Error: no such image' >&2\nexit 125\n")
    program.chmod(0o755)
    with pytest.raises(
        UsageError, match=r"podman:image cannot run a notebook: Error: no such image"
    ):
        place.check_place(container, 1000)

    program.write_text('#!/bin/sh\necho \'{"version": "0.0.1"}\'\n')
    with pytest.raises(UsageError, match=r"has gradlab 0\.0\.1, this is"):
        place.check_place(container, 1000)


def test_the_teacher_sees_which_limits_a_container_ignores(tmp_path: Path) -> None:
    program = tmp_path / "podman"
    lines = (
        f"Resource limits are not supported and ignored\n{json.dumps({'version': gl.__version__})}"
    )
    program.write_text(f"#!/bin/sh\necho '{lines}'\n")
    program.chmod(0o755)
    warning = place.check_place(place.Container(str(program), "image"), 1000)
    assert warning == "Resource limits are not supported and ignored"


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["nowhere"], "nowhere is not a folder"),
        (["."], "holds no notebooks of the course: expected NAME/*.ipynb"),
        ([".", "-o", "marks.txt"], "marks are written to a .csv file"),
        ([".", "-o", "no/marks.csv"], "there is no folder no"),
        ([".", "--seconds", "0"], "at least a second"),
    ],
)
def test_what_cannot_be_graded(
    arguments: list[str],
    complaint: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert command.main(["grade", *arguments]) == 2
    assert complaint in capsys.readouterr().err


# Files


def find(folder: Path) -> dict[str, submissions.Submission]:
    return {submission.student: submission for submission in submissions.find_submissions(folder)}


def test_notebooks_are_found_in_folders_and_beside_each_other(tmp_path: Path) -> None:
    hand_in(tmp_path, "bob", *RIGHT)
    (tmp_path / "bob" / "00_start_here.ipynb").rename(tmp_path / "bob.ipynb")
    hand_in(tmp_path, "ann/assignment", *RIGHT)

    found = find(tmp_path)

    assert [(one.stem, len(one.cells), one.trouble) for one in found.values()] == [
        ("00_start_here", 4, "")
    ] * 2
    assert set(found) == {"ann", "bob"}


def test_what_cannot_be_read_is_one_submission_with_a_reason(tmp_path: Path) -> None:
    hand_in(tmp_path, "ann", *RIGHT)
    hand_in(tmp_path, "ann", *RIGHT, notebook="copy")
    hand_in(tmp_path, "bob")
    (tmp_path / "bob" / "00_start_here.ipynb").unlink()
    (tmp_path / "bob" / "link.ipynb").symlink_to(tmp_path / "ann" / "copy.ipynb")
    (tmp_path / "cyd").mkdir()
    os.mkfifo(tmp_path / "cyd" / "02_clipping.ipynb")
    (tmp_path / "dee").mkdir()
    (tmp_path / "dee" / "02_clipping.ipynb").write_text('{"cells": [{"cell_type": "code"}]}')

    troubles = [(one.student, one.trouble[:30]) for one in submissions.find_submissions(tmp_path)]

    assert troubles == [
        ("ann", ""),
        ("ann", "00_start_here is there twice; "),
        ("bob", "it is a link to another file"),
        ("cyd", "it is not a file"),
        ("dee", "it cannot be read as a notebook"[:30]),
    ]


@pytest.fixture
def nested(tmp_path: Path) -> Iterator[Path]:
    """A folder that holds folders nested 1,500 deep, deeper than a path may be long."""
    here = os.getcwd()
    os.chdir(tmp_path)
    for _ in range(1500):
        os.mkdir("d")
        os.chdir("d")
    yield tmp_path
    # pytest's own clean-up cannot remove them.
    for _ in range(1500):
        os.chdir("..")
        os.rmdir("d")
    os.chdir(here)


def test_folders_nested_a_thousand_deep_do_not_end_the_search(nested: Path) -> None:
    hand_in(nested, "ann", *RIGHT)
    assert set(find(nested)) == {"ann"}


def test_lines_for_ipython_are_left_out_in_linear_time(tmp_path: Path) -> None:
    blank = "\n" * 200_000
    hand_in(tmp_path, "ann", f"if True:\n    %matplotlib inline\n{blank}x = 1", "%%bash\nls", SIGN)
    first, second, _ = find(tmp_path)["ann"].cells
    assert first == f"if True:\n    pass\n{blank}x = 1"
    assert second == ""


def test_files_beside_a_notebook_come_along_only_from_the_student_s_own_folder(
    tmp_path: Path,
) -> None:
    hand_in(tmp_path, "ann", *RIGHT)
    (tmp_path / "ann" / "data.csv").write_text("1,2")
    (tmp_path / "ann" / "key").symlink_to(tmp_path / "secret")
    (tmp_path / "secret").write_text("the key")
    (tmp_path / "bob.ipynb").write_bytes((tmp_path / "ann" / "00_start_here.ipynb").read_bytes())

    found = find(tmp_path)

    assert set(found["ann"].files()) == {"data.csv"}
    assert found["bob"].files() == {}


def test_a_notebook_reads_and_imports_what_lies_beside_it(tmp_path: Path) -> None:
    uses = "import helper\nassert open('data.csv').read() == helper.CONTENT"
    hand_in(tmp_path / "class", "ann", START, uses + "\n" + NORM)
    (tmp_path / "class" / "ann" / "data.csv").write_text("1,2")
    (tmp_path / "class" / "ann" / "helper.py").write_text("CONTENT = '1,2'")
    assert grade(tmp_path / "class", "--trust")["ann", "start.norm"]["score"] == "1"


# Questions


@pytest.mark.parametrize(
    "exercise", [name for name, e in EXERCISES.items() if not isinstance(e, Choice)]
)
def test_the_key_is_right_when_its_calls_are_played_back(exercise: str) -> None:
    from gradlab._app.grading import inside
    from gradlab.exercises.key import value

    question = draw_question(exercise, seed=7)
    line = json.loads(json.dumps(inside.describe_answer(value(exercise), list(question.calls))))
    assert judge(question, line).right


def test_mistakes_are_named_when_calls_are_played_back() -> None:
    from gradlab._app.grading import inside

    def minimize(opt, loss, var_list, global_step):  # type: ignore[no-untyped-def]
        opt.apply_gradients(opt.compute_gradients(loss, var_list=var_list[:1]))

    question = draw_question("three_steps.minimize", seed=7)
    line = json.loads(json.dumps(inside.describe_answer(minimize, list(question.calls))))
    assert judge(question, line).mistake == "Only one of the two variables of var_list has moved."


def test_an_untouched_cell_is_told_from_a_wrong_answer_that_begins_alike() -> None:
    starter = EXERCISES["clipping.by_norm"].starter.strip()
    check = '\n\n\ngl.exercises.check("clipping.by_norm", my_clip_by_norm)'
    assert marks.is_untouched(starter + check, "clipping.by_norm")
    assert marks.is_untouched("# mine\n\n" + starter + check, "clipping.by_norm")
    assert not marks.is_untouched(
        f"{starter} * limit / np.linalg.norm(t){check}", "clipping.by_norm"
    )
    assert marks.is_untouched('gl.exercises.choose("start.sign")', "start.sign")
    assert not marks.is_untouched('gl.exercises.choose("start.sign", "b")', "start.sign")


def test_students_without_a_notebook_that_others_have_get_zeros() -> None:
    ours = [
        marks.Mark("ann", "00_start_here", "start.sign", 1),
        marks.Mark("bob", "02_clipping", "clipping.below", 1),
    ]
    completed = marks.complete(ours)
    assert {(mark.student, mark.score) for mark in completed if mark.mistake == marks.MISSING} == {
        ("ann", 0),
        ("bob", 0),
    }
    assert len(completed) == 2 + 6 + 4
