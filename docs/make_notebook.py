"""Run the cells of docs/finding.ipynb and keep what they show: python docs/make_notebook.py"""

from __future__ import annotations

import ast
import contextlib
import io
import json
import os
import tempfile
from pathlib import Path
from typing import Any

NOTEBOOK = Path(__file__).with_name("finding.ipynb")


def run_cells(notebook: dict[str, Any]) -> None:
    """Run the code cells in one namespace and an empty folder, and put what each shows into it."""
    names: dict[str, Any] = {"__name__": "__main__"}
    before = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            _run_cells(notebook, names)
        finally:
            os.chdir(before)


def _run_cells(notebook: dict[str, Any], names: dict[str, Any]) -> None:
    for number, cell in enumerate((c for c in notebook["cells"] if c["cell_type"] == "code"), 1):
        cell["execution_count"] = number
        cell["outputs"] = [
            {
                "output_type": "execute_result",
                "execution_count": number,
                "metadata": {},
                "data": shown(run_cell("".join(cell["source"]), names)),
            }
        ]


def run_cell(source: str, names: dict[str, Any]) -> Any:
    """Run a cell; the value of its last expression."""
    tree = ast.parse(source)
    last = tree.body.pop()
    assert isinstance(last, ast.Expr), "a cell ends with what it shows"
    with contextlib.redirect_stdout(io.StringIO()):
        exec(compile(tree, "cell", "exec"), names)
    return eval(compile(ast.Expression(last.value), "cell", "eval"), names)


def shown(value: Any) -> dict[str, Any]:
    data = {"text/plain": [repr(value)[:400]]}
    if hasattr(value, "_repr_html_"):
        data["text/html"] = [value._repr_html_()]
    return data


if __name__ == "__main__":
    notebook = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    run_cells(notebook)
    NOTEBOOK.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
