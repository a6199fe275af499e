"""A kernel as a notebook has one: cells with an id, run again and again."""

from __future__ import annotations

import ast
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from jupyter_client.manager import start_new_kernel

CHECKOUT = Path(__file__).parents[2]
SECONDS = 120.0


class Kernel:
    """Runs code as the cells of a front end."""

    def __init__(self, client: Any) -> None:
        self._client = client

    def run(self, code: str, cell: str | None = None, **expressions: str) -> dict[str, Any]:
        """Run code as the cell with this id, or as that of a front end that sends none; give values
        of expressions.

        Raises:
            RuntimeError: the cell, or an expression after it, raised.
        """
        content = {
            "code": code, "silent": False, "store_history": True, "user_expressions": expressions,
            "allow_stdin": False, "stop_on_error": False,
        }  # fmt: skip
        metadata = {} if cell is None else {"cellId": cell}
        asked = self._client.session.msg("execute_request", content, metadata=metadata)
        self._client.shell_channel.send(asked)
        reply = self._reply(asked["header"]["msg_id"])
        if reply["status"] != "ok":
            raise RuntimeError("\n".join(reply["traceback"]))
        for name, it in reply["user_expressions"].items():
            if it["status"] != "ok":
                raise RuntimeError(f"{name}: {it['ename']}: {it['evalue']}")
        return {
            k: ast.literal_eval(it["data"]["text/plain"])
            for k, it in reply["user_expressions"].items()
        }

    def _reply(self, asked: str) -> Any:
        end = time.monotonic() + SECONDS
        while time.monotonic() < end:
            message = self._client.get_shell_msg(timeout=SECONDS)
            if message["parent_header"].get("msg_id") == asked:
                while self._client.iopub_channel.msg_ready():  # nobody looks at the outputs
                    self._client.iopub_channel.get_msg()
                return message["content"]
        raise TimeoutError(f"no reply in {SECONDS:g} s")


@contextmanager
def kernel(folder: Path) -> Iterator[Kernel]:
    """A kernel that starts in a folder and finds this checkout."""
    path = os.pathsep.join(filter(None, [str(CHECKOUT), os.environ.get("PYTHONPATH")]))
    own = {"IPYTHONDIR": str(folder / "ipython"), "PYTHONPATH": path}
    manager, client = start_new_kernel(kernel_name="python3", cwd=str(folder), env=os.environ | own)
    try:
        yield Kernel(client)
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
