"""A part of a run as a run folder of its own, so small that it can be kept with the code."""

from __future__ import annotations

import contextlib
import dataclasses
import re
import shutil
from collections.abc import Sequence
from pathlib import Path

from instar.core.errors import BadInput
from instar.store.folder import connect_for_reading, explain_errors, reading
from instar.store.rows import COLUMNS, load_json
from instar.store.run import RunStore

HASH = re.compile(r"[0-9a-f]{32,}")


def write_subset(run: Path, folder: Path, cases: Sequence[str], *, queries: int) -> None:
    """Some cases of a run with their changes and the pictures that these need: no answers, no pictures of
    findings. `queries` are the questions that they cost.
    """
    names = ", ".join((*COLUMNS, "session"))
    marks = ", ".join("?" * (len(COLUMNS) + 1))
    wanted = set(cases)
    with contextlib.closing(connect_for_reading(run)) as database, RunStore.read(run) as store, reading(run):
        identity = database.execute("SELECT value FROM meta WHERE name = 'identity'").fetchone()
        rows = [
            (*row[:-1], 1) for row in database.execute(f"SELECT {names} FROM records") if row[0] in wanted
        ]
        sources = {row[COLUMNS.index("source")] for row in rows}
        kept = [one for one in database.execute("SELECT id, scene, digest FROM sources") if one[0] in sources]
        totals = store.totals()
        if totals is None or identity is None:
            raise BadInput(f"{run} has no result yet")
        plan = store.plan()
    pictures = {name for row in rows for name in HASH.findall(row[COLUMNS.index("change")] or "")}
    with RunStore.create(folder, identity=load_json(identity[0], dict)) as subset, explain_errors(folder):
        subset._database.executemany(f"INSERT INTO records VALUES ({marks})", rows)
        subset._database.executemany("INSERT INTO sources VALUES (?, ?, ?)", kept)
        part = dataclasses.replace(totals, queries=queries, asked=0, seconds=0.0, scenes=len(sources))
        subset.keep_totals(dataclasses.replace(part, finished=True))
        subset.keep_plan(plan)
        for name in sorted(pictures):
            path = Path("pictures", name[:2], f"{name}.png")
            if (run / path).is_file():
                (folder / path).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(run / path, folder / path)
