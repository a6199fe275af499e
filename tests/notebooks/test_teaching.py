"""The teacher's page and the glossary: what they quote is what the course says, and every term is
linked.
"""

import re

from gradlab.exercises.catalog import EXERCISES
from tests.notebooks import save
from tests.notebooks.test_course import cells

TEACHING, GLOSSARY = (save.FOLDER / name for name in ("TEACHING.md", "GLOSSARY.md"))
NOTEBOOKS = sorted(save.FOLDER.glob("*.ipynb"))


def test_the_times_and_the_wrong_answers_are_those_of_the_course() -> None:
    text = TEACHING.read_text("utf-8")
    for path in NOTEBOOKS:
        (minutes,) = re.findall(r"\*\*Time\*\* (\d+) minutes", cells(path, "markdown")[0])
        assert f"[{path.stem}]({path.name}) | {minutes} |" in text
    rows = re.findall(r"^\| `([\w.]+)` \| (.+?) \| (.+?) \|$", text, flags=re.M)
    assert len(rows) > 12
    for name, _, hint in rows:
        assert any(hint == known or known in hint for _, known in EXERCISES[name].mistakes), (
            name,
            hint,
        )


def test_every_term_is_explained_once_and_linked_from_the_notebook_that_explains_it() -> None:
    text = GLOSSARY.read_text("utf-8")
    terms = re.findall(r"^## (.+)$", text, flags=re.M)
    assert terms == sorted(set(terms), key=str.lower)
    explained = dict(
        zip(terms, re.findall(r"Explained in \[\w+\]\((\w+\.ipynb)\)", text), strict=True)
    )
    linked: dict[str, str] = {}
    for path in NOTEBOOKS:
        for anchor in re.findall(
            r"\]\(GLOSSARY\.md#([\w-]+)\)", "\n".join(cells(path, "markdown"))
        ):
            assert linked.setdefault(anchor, path.name) == path.name, (
                f"{anchor} is linked from two notebooks"
            )
    assert linked == {
        term.lower().replace(" ", "-"): notebook for term, notebook in explained.items()
    }
