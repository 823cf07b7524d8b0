"""Runs for tests of the workbench: a real small one, and made-up ones of any content and size."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

import instar
from instar.cli import main
from instar.cli.view import offers_of
from instar.core.marks import Mark, Panel
from instar.core.record import Source, Totals
from instar.scenes import load_scenes
from instar.store import RunStore
from instar.workbench.access import Access
from instar.workbench.app import make_site
from instar.workbench.site import Site

PORT = 8765
SCRIPT = "<script>alert(1)</script>"


def make_street_run(folder: Path, *words: str, system: str = "street-blobs") -> Path:
    """A campaign on the drawn street; street-blobs has some twenty violations in it."""
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        main(["run", "--system", system, "--relation", "insertion", "--scenes", "street:6", "--budget", "150",
              "--out", str(folder), *words])  # fmt: skip
    return folder


def record(number: int, **fields: object) -> instar.Record:
    """A held case, unless the fields say otherwise."""
    told = {
        "case": f"{number:016x}", "scene": f"scene-{number % 7}", "relation": "insertion", "ordinal": number,
        "change": None, "verdict": instar.Verdict.held(0.5), "queries": 1,
    } | fields  # fmt: skip
    return instar.Record(**({"source": told["scene"]} | told))


def lost(margin: float, label: str = "car", kind: str = "lost") -> instar.Verdict:
    evidence = {"was": {"label": label, "score": 0.9, "box": [1, 2, 3, 4]}}
    return instar.Verdict.violated([instar.Finding(kind, "object 1", margin, evidence)])


def make_run(folder: Path, records: Iterable[instar.Record], system: str = "made-up", task: str = "") -> Path:
    """A run of these records, which nobody asked for: it has no plan."""
    records = list(records)
    with RunStore.create(folder, identity={"system": system, "fingerprint": "x"}) as store:
        store.keep_records(records)
        store.keep_totals(Totals(str(folder), system, 0, 7, len(records), len(records), 1.0, task=task))
    return folder


def make_test_site(root: Path) -> Site:
    """A site whose runs are read and whose groups are known."""
    site = make_site(root, offers_of([], []), Access(PORT), workers=ThreadPoolExecutor(1))
    site.library.load(lambda what, total: contextlib.nullcontext(_Silent()))
    for run in site.library.runs.values():
        if run._grouping is not None:
            run._grouping.exception(timeout=600)
    site.library.look()
    return site


class _Silent:
    def advance(self, n: int = 1) -> None:
        """Nobody is watching."""


def make_large_run(folder: Path, findings: int, *, pictured: int = 64) -> Path:
    """A run of so many failures on drawn streets, of which the first have pictures: one for each scene."""
    labels, relations = ("car", "person", "dog", "bus", "stop sign"), ("darkened", "noisy", "cropped", "hazy")
    records = [
        record(
            number,
            scene=f"street-{number % 250:04d}",
            relation=relations[number % 4],
            verdict=lost(-0.9 + number / (2 * findings), labels[number % 5]).with_evidence(level=number % 40),
        )
        for number in range(findings)
    ]
    held = [record(findings + i, scene=one.scene) for i, one in enumerate(records)]
    make_run(folder, [*records, *held])
    with RunStore.resume(folder, identity={"system": "made-up", "fingerprint": "x"}) as store:
        for scene in {one.scene for one in records}:
            store.keep_source(Source(scene, scene, "0" * 64))
        for one, street in zip(records, load_scenes(f"street:{pictured}")):
            after = np.ascontiguousarray(street.image // 2)
            mark = Mark.box([100, 100, 200, 180], "lost", one.verdict.plainest.evidence["was"]["label"])
            panels = [Panel("before", street.image, (mark,)), Panel("after", after, (mark,))]
            store.keep_panels(one.case, panels, exact=False)
    return folder
