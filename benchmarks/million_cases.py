"""What the page of a run of a million cases costs: CPU seconds to make it, and how large it is.

    python benchmarks/million_cases.py [--cases N] [--out FOLDER]

The run file is made here: a small campaign on the drawn street is really run, and its records are then
written again under other ordinals until there are enough. So pictures can be made from it as from any run.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from instar.cli import main

SCENES = 12
WHOLE = 1_000_000


def make_run(folder: Path, cases: int) -> None:
    """A run folder with so many cases."""
    words = ["run", "--system", "street-blobs", "--relation", "insertion", "--scenes", f"street:{SCENES}"]
    with contextlib.redirect_stdout(io.StringIO()):
        main([*words, "--budget", "1500", "--workers", "1", "--out", str(folder), "--json"])
    database = sqlite3.connect(folder / "run.sqlite")
    database.executescript("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF")
    columns = [row[1] for row in database.execute("PRAGMA table_info(records)")]
    rows = list(database.execute("SELECT * FROM records WHERE role = 'case'"))
    at = {name: columns.index(name) for name in ("case_id", "ordinal", "margin")}
    marks = ", ".join("?" * len(columns))

    def copies() -> object:
        made = len(rows)
        turn = 0
        while made < cases:
            turn += 1
            for n, row in enumerate(rows):
                if made >= cases:
                    return
                copy = list(row)
                copy[at["case_id"]] = f"{turn:08x}{n:08x}"
                copy[at["ordinal"]] = row[at["ordinal"]] + turn * len(rows)
                copy[at["margin"]] = row[at["margin"]] * (1 - (turn % 97) / 200)
                made += 1
                yield copy

    with database:
        database.executemany(f"INSERT OR REPLACE INTO records VALUES ({marks})", copies())
    database.close()


def measure(cases: int, out: Path) -> None:
    run, page = out / "run", out / "page.html"
    if not (run / "run.sqlite").exists():
        make_run(run, cases)
    began = time.perf_counter()
    words = ["report", str(run), "--html", str(page), "--json"]
    code = (
        "import sys, time; from instar.cli import main; "
        f"main({words!r}); print(time.process_time(), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    cpu = float(done.stderr.split()[-1])
    with sqlite3.connect(run / "run.sqlite") as database:
        (count,) = database.execute("SELECT count(*) FROM records WHERE role = 'case'").fetchone()
        (violated,) = database.execute("SELECT count(*) FROM records WHERE status = 'violated'").fetchone()
    megabytes = (run / "run.sqlite").stat().st_size / 1e6
    print(f"{count:,} cases, {violated:,} violated, run file {megabytes:,.0f} MB")
    print(f"page: {page.stat().st_size / 1e6:.2f} MB (at most 15), {cpu:.1f} s of CPU (at most 60)")
    print(f"{1e6 * cpu / count:.1f} us of CPU a case, {time.perf_counter() - began:.1f} s on the clock")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=WHOLE)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    if given.out is not None:
        measure(given.cases, given.out)
    else:
        with tempfile.TemporaryDirectory() as folder:
            measure(given.cases, Path(folder))
