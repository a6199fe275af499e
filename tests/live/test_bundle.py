"""The modules of the browser's half join into one."""

from pathlib import Path

import pytest

from gradlab.live._bundle import joined, widget_source


def modules(folder: Path, **sources: str) -> Path:
    for name, source in sources.items():
        (folder / f"{name}.js").write_text(source, "utf-8")
    return folder


def test_each_module_comes_once_and_after_what_it_needs(tmp_path: Path) -> None:
    folder = modules(
        tmp_path,
        a='import { b } from "./b.js";\nimport { c } from "./c.js";\nexport const a = b + c;\n',
        b='import { c } from "./c.js";\nexport const b = c + 1;\n',
        c="const hidden = 1;\nexport const c = hidden;\n",
    )
    assert joined(folder, "a.js").split("\n") == [
        "const hidden = 1;",
        "const c = hidden;",
        "",
        "const b = c + 1;",
        "",
        "const a = b + c;",
        "",
    ]


def test_a_name_defined_twice_is_refused(tmp_path: Path) -> None:
    folder = modules(
        tmp_path,
        a='import { f } from "./b.js";\nconst same = f;\n',
        b="export function f() {}\nclass same {}\n",
    )
    with pytest.raises(ValueError, match=r"b\.js and a\.js both define same"):
        joined(folder, "a.js")


def test_a_name_that_is_not_there_is_refused(tmp_path: Path) -> None:
    folder = modules(tmp_path, a='import { f } from "./b.js";\n', b="export const g = 1;\n")
    with pytest.raises(ValueError, match=r"a\.js imports f, which b\.js does not define"):
        joined(folder, "a.js")


def test_the_widget_is_one_module_with_one_default() -> None:
    source = widget_source()
    assert "import " not in source.replace("important", "")
    assert source.count("export") == 2
    assert source.endswith("export default { render };\n")
