"""The page of what is here is that of the tables, and each of its rows names a test."""

import pytest

from gradlab._base.left_out import explain
from tests.coverage import PAGE, ROOT, TABLES, Table, page
from tests.originals.manifest import SUITES

NAMES = [(table, name) for table in TABLES for name, _ in table.names()]


def test_the_page_is_that_of_the_tables() -> None:
    assert PAGE.read_text("utf-8") == page(), "run python -m tests.coverage"


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.title)
def test_every_row_is_here_and_names_a_test(table: Table) -> None:
    files = {path.name for path in ROOT.glob("tests/**/*") if path.suffix in (".py", ".json")}
    files |= {suite.path.rpartition("/")[2] for suite in SUITES}
    for name, _ in table.names():
        assert table.has(name), f"{name} isn't in {table.place}"
        assert explain(table.place, name) is None, f"{name} is left out, too"
        tests = [test.split("`")[1].rpartition("/")[2] for test in table.tests(name)]
        assert tests, f"no test is about {name}"
        assert set(tests) <= files


def test_a_row_that_is_wrong_is_found() -> None:
    wrong = TABLES[0]._replace(since={"1.0": "ApplyFoo"})
    assert wrong.names() == [("ApplyFoo", "1.0")]
    assert not wrong.has("ApplyFoo")
    assert not list(wrong.compared("ApplyFoo"))


def test_a_name_is_in_one_table_once() -> None:
    rows = [(table.place, name) for table, name in NAMES]
    assert len(rows) == len(set(rows))
