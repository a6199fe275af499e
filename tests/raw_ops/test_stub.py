"""What type checkers and editors read of the raw operations is what they are."""

import ast
import inspect

from gradlab import raw_ops
from tests.raw_ops.stub import STUB, written

TREE = ast.parse(STUB.read_text("utf-8"))
STUBS = {x.name: x for x in TREE.body if isinstance(x, ast.FunctionDef)}


def test_the_stub_is_what_the_command_writes() -> None:
    assert ast.dump(TREE) == ast.dump(ast.parse(written())), "run python -m tests.raw_ops.stub"


def test_every_operation_is_in_it_with_its_parameters() -> None:
    assert sorted(STUBS) == raw_ops.__all__ == dir(raw_ops)
    for name, stub in STUBS.items():
        parameters = inspect.signature(getattr(raw_ops, name)).parameters
        assert [a.arg for a in stub.args.kwonlyargs] == list(parameters)
        defaults = [inspect.Parameter.empty if d is None else ast.literal_eval(d) for d in stub.args.kw_defaults]
        assert defaults == [p.default for p in parameters.values()]
