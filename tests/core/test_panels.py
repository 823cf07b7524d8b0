"""Every case is shown as panels: before, after, what became of each mark, and what was changed.

Those of findings are kept in the run folder, where they can be looked at without any foreign module.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest

import instar
import planted_core as planted
from instar.campaigns.result import read_result
from instar.core.errors import BadInput, RunError
from instar.core.marks import make_panels
from instar.core.verdict import Verdict
from instar.report.html import Page, render_html
from instar.store import RunStore

HERE = Path(__file__).parent
IMAGE = np.full((60, 80, 3), 120, np.uint8)
VIOLATED = instar.Status.VIOLATED


def marks(seen):
    """The answer is a mapping from subjects to boxes."""
    boxes = [instar.Mark.box(box, label=name, subject=name) for name, box in seen.answer.items()]
    return instar.Panel("", seen.input, tuple(boxes))


def compare(before, after):
    lost = [
        instar.Finding("lost", name, -1.0, {"was": {"label": name, "box": list(box)}})
        for name, box in before.answer.items()
        if name not in after.answer
    ]
    return Verdict.violated(lost) if lost else Verdict.held(1.0)


TASK = instar.Task("boxes", planted.read_things, compare, marks)
DOG, CAT, COW = (0, 0, 10, 10), (20, 0, 30, 10), (40, 0, 50, 10)


@dataclass(frozen=True)
class Pasted(instar.Change):
    box: tuple = (60, 0, 68, 8)

    @property
    def mark(self):
        return "pasted bird"


def seen(*follow_ups, frame=None, **answer):
    return instar.Observation(instar.Scene.of("", IMAGE), answer, lambda: IMAGE, frame=frame)


def fates(panel):
    return sorted((mark.fate, mark.label) for mark in panel.marks)


def test_every_mark_has_its_fate_and_what_is_lost_is_outlined_where_it_was():
    before, after = seen(dog=DOG, cat=CAT, cow=COW), seen(cow=COW)
    verdict = compare(before, after)
    struck = {"kind": "lost", "subject": "cat", "margin": -1.0, "by": "null"}
    left = Verdict.violated(verdict.findings[:1], struck=[struck])
    first, second = make_panels(TASK, before, [after], Pasted(), left)
    assert (first.title, second.title) == ("before", "after")
    assert fates(first) == [("lost", "dog"), ("matched", "cow"), ("unsure", "cat")]
    assert fates(second) == [("change", "pasted bird"), ("lost", "dog lost"), ("matched", "cow")]
    lost = next(mark for mark in second.marks if mark.fate == "lost")
    assert lost.outline == ((0, 0), (10, 0), (10, 10), (0, 10))


@pytest.mark.parametrize(
    ("kind", "evidence", "fate", "words"),
    [
        ("invented", {"is": {"label": "bus", "score": 0.9, "box": [1, 1, 5, 5]}}, "new", "new bus 0.90"),
        (
            "renamed",
            {"was": {"label": "dog"}, "is": {"label": "cat", "box": [1, 1, 5, 5]}},
            "renamed",
            "now cat",
        ),
        (
            "drifted",
            {"was": {"label": "dog"}, "is": {"label": "dog", "box": [1, 1, 5, 5]}},
            "moved",
            "moved dog",
        ),
        (
            "split",
            {"was": {"label": "word", "corners": [[0, 0], [4, 0], [4, 2], [0, 2]]}},
            "lost",
            "word split",
        ),
        ("doubled", {"is": {"label": "word", "box": [1, 1, 5, 5]}}, "new", "doubled word"),
    ],
)
def test_a_finding_of_any_kind_is_marked_where_it_shows(kind, evidence, fate, words):
    verdict = Verdict.violated([instar.Finding(kind, "dog", -1.0, evidence)])
    _, after = make_panels(TASK, seen(dog=DOG), [seen()], instar.core.change.Value(None), verdict)
    assert fates(after) == [(fate, words)]


def test_a_finding_without_a_place_marks_nothing():
    verdict = Verdict.violated([instar.Finding("slower", "speed", -1.0, {"was": 80.0, "is": 60.0})])
    _, after = make_panels(TASK, seen(dog=DOG), [seen()], instar.core.change.Value(None), verdict)
    assert after.marks == ()


def test_marks_of_a_moved_picture_are_where_things_are_in_it():
    frame = instar.Frame(np.array([[-1.0, 0, 80], [0, 1, 0], [0, 0, 1]]), (60, 80), (60, 80))
    before, after = seen(dog=DOG), seen(dog=DOG, frame=frame)
    panels = make_panels(TASK, before, [after], instar.core.change.Value(None), Verdict.held(1.0))
    assert panels[0].marks[0].outline[0] == (0, 0)
    assert panels[1].marks[0].outline[0] == (80, 0)


def test_several_follow_ups_are_numbered_and_dials_of_one_name_share_their_scale():
    def dials(one):
        speed = instar.Dial("speed", one.answer, "km/h", 0.0, 60.0)
        return instar.Panel("", one.input, dials=(speed,))

    task = replace(TASK, marks=dials)
    observations = [instar.Observation.of(IMAGE, value) for value in (80.0, 70.0, 60.0)]
    shown = make_panels(
        task, observations[0], observations[1:], instar.core.change.Value(None), Verdict.held()
    )
    assert [panel.title for panel in shown] == ["before", "after 1", "after 2"]
    assert {(dial.low, dial.high) for panel in shown for dial in panel.dials} == {(0.0, 80.0)}


# --- kept in the run folder -------------------------------------------------------------------------

MODULE = """
from dataclasses import dataclass
import numpy as np
import instar

@dataclass(frozen=True)
class Dark(instar.Change):
    level: int

    def __str__(self):
        return f"as dark as {self.level}"

BOXES = {"dog": [1, 2, 9, 8], "cat": [11, 2, 19, 8]}

def read(asked, answer):
    return answer

def compare(before, after):
    lost = [instar.Finding("lost", name, -1.0, {"was": {"label": name, "box": BOXES[name]}})
            for name in before.answer if name not in after.answer]
    return instar.Verdict.violated(lost) if lost else instar.Verdict.held(1.0)

def marks(seen):
    heat = np.full((3, 4), 0.6, np.float32)
    boxes = tuple(instar.Mark.box(BOXES[name], label=name, subject=name) for name in seen.answer)
    dial = instar.Dial("things", float(len(seen.answer)), "", 0.0, 3.0)
    return instar.Panel("mine", seen.input, boxes, (dial,), heat)

task = instar.Task("mine", read, compare, marks)
relation = instar.Relation("dark", task, lambda image, change: np.full_like(image, change.level),
                           draw=lambda source, rng: Dark(int(rng.integers(1, 20))))

class System:
    name = "system"
    def predict(self, images):
        return [["dog", "cat"] if image.mean() > 10 else ["cat"] for image in images]

if __name__ == "__main__":
    import sys
    rng = np.random.default_rng(0)
    pictures = rng.integers(60, 70, (2, 20, 30, 3), dtype=np.uint8)
    scenes = [instar.Scene.of(f"{i}.png", picture) for i, picture in enumerate(pictures)]
    for _ in instar.run(scenes, relation, System(), search=instar.draws(8), out=sys.argv[1]):
        pass
"""


@pytest.fixture
def kept(tmp_path):
    """A run that another process made, with a module that is not here."""
    script = tmp_path / "elsewhere.py"
    script.write_text(MODULE)
    path = str(HERE.parents[1] / "src")
    subprocess.run(
        [sys.executable, script, tmp_path / "run"], check=True, env={**os.environ, "PYTHONPATH": path}
    )
    with RunStore.read(tmp_path / "run") as store:
        yield store


def test_panels_of_findings_are_kept_and_read_without_the_module_of_the_relation(kept):
    records = list(kept.records(changes=False))
    violated = [record for record in records if record.verdict.status is VIOLATED]
    assert violated
    assert len(violated) < len(records)
    for record in records:
        panels = kept.panels(record.case)
        if record.verdict.status is not VIOLATED:
            assert panels is None
            continue
        before, after = panels
        assert (before.title, after.title) == ("mine, before", "mine, after")
        assert fates(before) == [("lost", "dog"), ("matched", "cat")]
        assert fates(after) == [("lost", "dog lost"), ("matched", "cat")]
        assert [(dial.name, dial.value) for dial in after.dials] == [("things", 1.0)]
        np.testing.assert_allclose(after.heat, 0.6, atol=1 / 255)
        assert before.picture.shape == (20, 30, 3)
        assert abs(float(before.picture.mean()) - 65) < 3
        assert kept.change_text(record.case).startswith("as dark as ")
    assert "elsewhere" not in sys.modules


def test_panels_of_pictures_that_are_gone_or_not_ours_are_told_in_one_line(kept, tmp_path):
    case = next(record.case for record, _ in kept.violated())
    for picture in (tmp_path / "run" / "pictures").rglob("*.*g"):
        picture.unlink()
    with pytest.raises(RunError, match=r"pictures of a case cannot be read from .*is missing"):
        kept.panels(case)


@pytest.mark.parametrize("name", ["../../etc/passwd.jpg", "a/b.png", "x.svg", ""])
def test_a_picture_of_a_strange_name_is_not_looked_for(name, tmp_path):
    with RunStore.create(tmp_path / "run", identity={}) as store:
        told = json.dumps([{"title": "before", "picture": name}])
        store._database.execute("INSERT INTO panels VALUES ('00', ?)", (told,))
        with pytest.raises(RunError, match="is no content hash"):
            store.panels("00")


def test_neither_unstable_nor_unconfirmed_cases_keep_panels_and_none_are_left_of_cases_that_are_gone(
    tmp_path,
):
    def run(**how):
        return list(
            instar.run(planted.pictures(8), planted.checked, planted.Hashed(), search=instar.draws(6), seed=3,
                       out=tmp_path / "run", **how)
        )  # fmt: skip

    for how in (
        {"limits": instar.Limits(queries=47)},
        {"resume": True},
        {"resume": True, "limits": instar.Limits(queries=20)},
    ):
        records = run(**how)
        kinds = {record.verdict.kind for record in records}
        with RunStore.read(tmp_path / "run") as store:
            pictured = {row[0] for row in store._database.execute("SELECT case_id FROM panels")}
        assert pictured == {r.case for r in records if r.verdict.status is VIOLATED and r.role == "case"}
        assert kinds & {"unstable", "unconfirmed"}


def test_beyond_the_disk_limit_findings_are_kept_without_pictures_and_counted(tmp_path):
    def run(**limits):
        again = (tmp_path / "run").exists()
        records = list(
            instar.run(planted.pictures(8), planted.checked, planted.Hashed(), search=instar.draws(6), seed=3,
                       out=tmp_path / "run", resume=again, limits=instar.Limits(**limits))
        )  # fmt: skip
        return [r for r in records if r.verdict.status is VIOLATED and r.role == "case"]

    def kept(cases):
        with RunStore.read(tmp_path / "run") as store:
            without = sum(store.panels(case) is None for case in cases)
            result = read_result(store)
            assert store.totals().pictures_left_out == without
        assert result.document()["pictures_left_out"] == without
        assert ("limits.disk" in result.text()) == bool(without)
        page = render_html(Page(result.summary, result.figures, result.groups))
        assert ("limits.disk" in page) == bool(without)
        files = [path for path in (tmp_path / "run" / "pictures").rglob("*") if path.is_file()]
        return len(cases) - without, sum(path.stat().st_size for path in files)

    unlimited = run()
    everything, size = kept([record.case for record in unlimited])
    assert everything == len(unlimited) > 4
    shutil.rmtree(tmp_path / "run")

    half = size / 2e6
    assert planted.rows(run(disk=half, queries=40)) != planted.rows(unlimited)  # broken off
    records = run(disk=half)  # what is on disk already counts
    assert planted.rows(records) == planted.rows(unlimited)
    some, used = kept([record.case for record in records])
    assert 0 < some < everything
    assert used <= size / 2
    assert kept([record.case for record in run(disk=0)]) == (some, used)  # what is there is not thrown away
    assert kept([record.case for record in run()]) == (everything, size)


def test_a_disk_limit_is_a_number(tmp_path):
    with pytest.raises(BadInput, match="limits: disk is -1; it must be a number of at least 0"):
        instar.Limits(disk=-1)
