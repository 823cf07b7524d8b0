"""Makes docs/terminal.svg: what `instar report` says in a terminal, of a run on drawn streets.

.venv/bin/python docs/make_terminal_pictures.py
"""

from __future__ import annotations

import io
import os
import re
import tempfile
from pathlib import Path

from rich.console import Console
from rich.text import Text

from instar.campaigns.plan import make_plan
from instar.campaigns.result import read_result
from instar.campaigns.run import execute
from instar.report.text_style import TextStyle
from instar.store import RunStore

WIDTH = 110  # characters
PLAN = {
    "scenes": "street:12",
    "system": [{"use": "street-blobs"}],
    "relation": [{"use": "insertion"}],
    "out": "runs/blobs",
    "limits": {"queries": 400},
}


def main(folder: Path) -> None:
    with tempfile.TemporaryDirectory() as temporary:
        os.chdir(temporary)
        (run,) = execute(make_plan(PLAN))
        with RunStore.read(run) as store:
            told = read_result(store).text(TextStyle(WIDTH, colour=True))
    console = Console(record=True, width=WIDTH, file=io.StringIO())
    console.print(Text.from_ansi(f"$ instar report runs/blobs\n{told}"))
    svg = console.export_svg(title="instar report")
    svg = re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.DOTALL)  # nothing is fetched from elsewhere
    (folder / "terminal.svg").write_text(svg, encoding="utf-8")


if __name__ == "__main__":
    main(Path(__file__).resolve().parent)
