"""Run folders refuse what they must in one line, and leave what is not theirs alone."""

import os
import resource
import sqlite3
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

import instar
import planted_core as planted
from instar.core.errors import (
    BadInput,
    InstarError,
    RunError,
    RunExists,
    RunLocked,
    RunVersion,
    SceneChanged,
    TooManyFailures,
)
from instar.store import RunStore

HERE = Path(__file__).parent
IDENTITY = {"system": "hashed", "seed": 1}


def run(out, *, scenes=None, seed=1, system=None, **how):
    return list(
        instar.run(
            scenes or planted.pictures(4), planted.checked, system or planted.Hashed(),
            search=instar.draws(4), seed=seed, out=out, **how,
        )
    )  # fmt: skip


def refusal(kind, action):
    with pytest.raises(kind) as refused:
        action()
    assert isinstance(refused.value, InstarError)
    assert "\n" not in str(refused.value)
    return str(refused.value)


def test_an_existing_run_is_refused_without_resume_and_left_as_it_was(tmp_path):
    reference = run(tmp_path / "run")
    text = refusal(RunExists, lambda: run(tmp_path / "run"))
    assert text == f"{tmp_path / 'run'} holds a run already; go on with --resume, or choose another --out"
    with RunStore.read(tmp_path / "run") as store:
        assert planted.rows(store.records()) == planted.rows(reference)


def test_a_folder_with_something_else_in_it_is_refused(tmp_path):
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "a.txt").write_text("mine")
    for resume in (False, True):
        text = refusal(RunExists, lambda resume=resume: run(tmp_path / "photos", resume=resume))
        assert text == f"{tmp_path / 'photos'} is there already and is no run; choose another --out"
    assert [p.name for p in (tmp_path / "photos").iterdir()] == ["a.txt"]


def test_an_empty_folder_is_as_good_as_none(tmp_path):
    assert run(tmp_path)


@pytest.mark.parametrize("left", [["lock"], ["lock", "run.sqlite"]])
def test_what_a_process_leaves_that_was_killed_at_once_can_be_resumed(left, tmp_path):
    for name in left:
        (tmp_path / name).touch()
    assert planted.rows(run(tmp_path, resume=True)) == planted.rows(run(None))


def test_resume_on_nothing_starts(tmp_path):
    assert planted.rows(run(tmp_path / "a", resume=True)) == planted.rows(run(tmp_path / "b"))


def test_resume_without_a_folder_is_refused():
    assert refusal(BadInput, lambda: run(None, resume=True)) == "resume needs a run folder; give out as well"


def test_resuming_with_another_seed_system_or_relation_is_refused_by_name(tmp_path):
    run(tmp_path / "run")
    folder = tmp_path / "run"
    advice = "give the same again, or choose another --out"
    changed = "its source, files or settings have changed since; bring that one back, or choose another --out"
    assert refusal(RunError, lambda: run(folder, seed=2, resume=True)) == (
        f"{folder} was begun with seed 1, not 2; {advice}"
    )
    other = planted.hashed_as("other")
    assert f"{folder} was begun with another version of other: {changed}" == refusal(
        RunError, lambda: run(folder, system=other, resume=True)
    )
    newer = planted.Hashed()
    newer.fingerprint = "v2"
    assert changed in refusal(RunError, lambda: run(folder, system=newer, resume=True))
    run(folder, resume=True)  # and the lock was let go each time


def test_a_scene_that_changed_is_refused_by_name(tmp_path):
    run(tmp_path / "run")
    scenes = planted.pictures(4)
    scenes[2] = instar.Scene.of(scenes[2].id, scenes[2].image ^ np.uint8(1))
    text = refusal(SceneChanged, lambda: run(tmp_path / "run", scenes=scenes, resume=True))
    assert text == f"0002.png is not the picture that {tmp_path / 'run'} was begun with; start a new run"
    assert planted.rows(run(tmp_path / "run", resume=True)) == planted.rows(run(tmp_path / "other"))


@pytest.mark.parametrize(
    ("version", "advice"),
    [(1, "instar 0.1 can read it"), (99, "a newer instar wrote it (see provenance.json)")],
)
def test_a_run_of_another_version_is_refused_for_writing_and_reading(version, advice, tmp_path):
    run(tmp_path / "run")
    database = sqlite3.connect(tmp_path / "run" / "run.sqlite")
    database.execute(f"PRAGMA user_version = {version}")
    database.close()
    for action in (lambda: run(tmp_path / "run", resume=True), lambda: RunStore.read(tmp_path / "run")):
        assert refusal(RunVersion, action) == (
            f"{tmp_path / 'run'} has run format {version} and this instar reads 2; {advice}"
        )


def test_what_is_no_database_is_refused_and_left_as_it_was(tmp_path):
    file = tmp_path / "run.sqlite"
    file.write_bytes(b"these are my notes, not a database" * 100)
    for action in (lambda: run(tmp_path, resume=True), lambda: RunStore.read(tmp_path)):
        assert refusal(RunError, action) == (
            f"cannot use {tmp_path}: file is not a database; it is damaged or not ours; choose another --out"
        )
    assert file.read_bytes() == b"these are my notes, not a database" * 100


def test_somebody_elses_database_is_refused_and_left_as_it_was(tmp_path):
    file = tmp_path / "run.sqlite"
    database = sqlite3.connect(file)
    database.execute("CREATE TABLE mine (x)")
    database.commit()
    database.close()
    before = file.read_bytes()
    for action in (lambda: run(tmp_path, resume=True), lambda: RunStore.read(tmp_path)):
        assert refusal(RunVersion, action) == f"{file} was not written by instar"
    assert file.read_bytes() == before


def test_a_folder_that_is_no_run_cannot_be_read(tmp_path):
    assert refusal(BadInput, lambda: RunStore.read(tmp_path)) == (
        f"{tmp_path} is no run folder: it has no run.sqlite"
    )


HOLDER = """
import sys
from instar.store import RunStore
with RunStore.resume(sys.argv[1], identity={"system": "hashed", "seed": 1}):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_two_processes_on_one_run_are_refused_and_reading_is_not(tmp_path):
    path = os.pathsep.join([str(HERE.parents[1] / "src"), str(HERE.parent)])
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(tmp_path / "run")],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": path},
    )  # fmt: skip
    with holder:
        assert holder.stdout.readline() == "held\n"
        text = refusal(RunLocked, lambda: RunStore.resume(tmp_path / "run", identity=IDENTITY))
        assert (
            text == f"{tmp_path / 'run'} is in use by another process; wait for it, or choose another --out"
        )
        with RunStore.read(tmp_path / "run") as store:
            assert list(store.records()) == []
        holder.stdin.close()
    RunStore.resume(tmp_path / "run", identity=IDENTITY).close()


def test_a_file_in_place_of_a_folder_is_refused(tmp_path):
    (tmp_path / "file").write_text("mine")
    assert "choose another --out" in refusal(RunExists, lambda: run(tmp_path / "file"))
    text = refusal(RunError, lambda: run(tmp_path / "file" / "run"))
    assert text == f"cannot use {tmp_path / 'file' / 'run'}: Not a directory; choose another --out"


@pytest.mark.skipif(
    not Path("/proc/self").exists(), reason="there is no folder here that even root cannot write"
)
def test_an_unwritable_place_is_refused():
    text = refusal(RunError, lambda: run("/proc/run"))
    assert text.startswith("cannot use /proc/run: ")
    assert text.endswith("; choose another --out")


@contextmanager
def small_disk(folder, kilobytes):
    folder.mkdir()
    size = f"size={kilobytes}k"
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", size, "none", folder], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip(f"a small disk cannot be mounted here: {mounted.stderr.decode().strip()}")
    try:
        yield lambda kilobytes: subprocess.run(
            ["mount", "-o", f"remount,size={kilobytes}k", folder], check=True, capture_output=True
        )
    finally:
        subprocess.run(["umount", folder], check=True)


@pytest.mark.skipif(sys.platform != "linux", reason="mounts a tmpfs")
def test_a_full_disk_is_told_in_one_line_and_the_run_goes_on_when_there_is_space(tmp_path):
    scenes = planted.pictures(30)
    reference = planted.rows(run(None, scenes=scenes))
    with small_disk(tmp_path / "disk", 240) as grow:
        text = refusal(RunError, lambda: run(tmp_path / "disk" / "run", scenes=scenes))
        assert text.endswith("; free some space and go on with --resume")
        assert text.startswith(f"cannot use {tmp_path / 'disk' / 'run'}: ")
        grow(20_000)
        assert planted.rows(run(tmp_path / "disk" / "run", scenes=scenes, resume=True)) == reference


@pytest.mark.skipif(sys.platform != "linux", reason="mounts a tmpfs")
@pytest.mark.parametrize("kilobytes", [4, 8, 16, 32, 64])
def test_a_disk_that_is_full_from_the_start_leaves_nothing_that_cannot_be_resumed(kilobytes, tmp_path):
    with small_disk(tmp_path / "disk", kilobytes) as grow:
        refusal(RunError, lambda: run(tmp_path / "disk" / "run"))
        grow(20_000)
        assert planted.rows(run(tmp_path / "disk" / "run", resume=True)) == planted.rows(run(None))


LIMITED = """
import sys
import instar, planted_core as planted
try:
    list(instar.run(planted.pictures(30), planted.checked, planted.Hashed(), search=instar.draws(4), seed=1,
                    out=sys.argv[1], resume=True))
except instar.InstarError as error:
    print(type(error).__name__, error)
"""


def test_a_file_size_limit_is_told_in_one_line_and_the_run_goes_on_without_it(tmp_path):
    path = os.pathsep.join([str(HERE.parents[1] / "src"), str(HERE.parent)])
    limited = subprocess.run(
        [sys.executable, "-c", LIMITED, str(tmp_path / "run")],
        env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, check=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (90_000, 90_000)),
    )  # fmt: skip
    assert limited.stdout.startswith(f"RunError cannot use {tmp_path / 'run'}: ")
    assert limited.stdout.endswith("; see whether the disk is full or failing, then go on with --resume\n")
    assert limited.stdout.count("\n") == 1
    scenes = planted.pictures(30)
    assert planted.rows(run(tmp_path / "run", scenes=scenes, resume=True)) == planted.rows(
        run(None, scenes=scenes)
    )


def test_a_campaign_refused_before_it_asked_anything_leaves_nothing_behind(tmp_path):
    unsendable = planted.Scripted(lambda image: 1)
    refusal(BadInput, lambda: run(tmp_path / "run", system=unsendable, limits=instar.Limits(timeout=5)))
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("batch", [1, 16])
def test_a_system_that_never_answered_leaves_a_run_that_can_be_looked_at_and_resumed(batch, tmp_path):
    def down(image):
        raise OSError("no route to host")

    system = planted.Scripted(down)
    limits = instar.Limits(failures=3)
    refusal(TooManyFailures, lambda: run(tmp_path / "run", system=system, limits=limits, batch=batch))
    with RunStore.read(tmp_path / "run") as store:
        assert not store.totals().finished
    mended = planted.hashed_as("scripted")
    resumed = run(tmp_path / "run", system=mended, resume=True)
    assert planted.rows(resumed) == planted.rows(run(None, system=mended))


def test_a_reader_that_is_refused_something_never_touches_a_run_that_has_just_begun(tmp_path):
    with RunStore.create(tmp_path / "run", identity=IDENTITY) as writer:

        def look():
            with RunStore.read(tmp_path / "run") as reader:
                reader.record("0" * 16)

        refusal(BadInput, look)
        assert (tmp_path / "run" / "run.sqlite").exists()
        assert writer.totals() is None


def test_a_resumed_run_that_is_refused_stays(tmp_path):
    with RunStore.create(tmp_path / "run", identity=IDENTITY):
        pass
    with pytest.raises(BadInput), RunStore.resume(tmp_path / "run", identity=IDENTITY):
        raise BadInput("something else")
    assert (tmp_path / "run" / "run.sqlite").exists()


def test_what_an_earlier_session_wrote_under_another_budget_is_gone_when_the_run_ends(tmp_path):
    run(tmp_path / "run")
    small = run(tmp_path / "run", resume=True, limits=instar.Limits(queries=20))
    with RunStore.read(tmp_path / "run") as store:
        assert planted.rows(store.records()) == planted.rows(small)


def test_a_case_is_found_by_the_beginning_of_its_name(tmp_path):
    records = run(tmp_path / "run")
    with RunStore.read(tmp_path / "run") as store:
        for record in records:
            assert planted.rows([store.record(record.case)]) == planted.rows([record])
        assert store.record(records[0].case[:10]).case == records[0].case
        assert (
            refusal(BadInput, lambda: store.record("x")) == "'x' is no case id: those are made of 0-9 and a-f"
        )
        assert refusal(BadInput, lambda: store.record("0" * 16)).startswith(f"no case '{'0' * 16}' in ")
        shared = next(d for d in "0123456789abcdef" if sum(r.case[0] == d for r in records) > 1)
        assert "more than one case begins with" in refusal(BadInput, lambda: store.record(shared))


def test_provenance_names_fingerprint_and_seed_and_the_versions_of_every_session(tmp_path):
    import json

    run(tmp_path / "run")
    run(tmp_path / "run", resume=True)
    provenance = json.loads((tmp_path / "run" / "provenance.json").read_text())
    assert provenance["fingerprint"].split()[0] == "hashed"
    assert (provenance["seed"], provenance["format"]) == (1, 2)
    assert [session["versions"]["numpy"] for session in provenance["sessions"]] == [np.__version__] * 2


def test_a_picture_that_was_changed_or_lost_is_told(tmp_path):
    pixels = np.zeros((3, 3, 3), np.uint8)
    name = planted.digest(pixels)
    with RunStore.create(tmp_path / "run", identity=IDENTITY) as store:
        store.keep_picture(name, pixels)
        (path,) = (tmp_path / "run" / "pictures").rglob("*.png")
        assert [p.name for p in path.parent.iterdir()] == [f"{name}.png"]
        store.keep_picture(planted.digest(pixels + 1), pixels + 1)
        other = next(p for p in (tmp_path / "run" / "pictures").rglob("*.png") if p != path)
        path.write_bytes(other.read_bytes())
        assert "is not the picture it was" in refusal(RunError, lambda: store.pictures.pixels(name))
        path.unlink()
        assert "is missing from" in refusal(RunError, lambda: store.pictures.pixels(name))
        assert "is no content hash" in refusal(RunError, lambda: store.pictures.pixels("../../etc"))


def test_a_damaged_provenance_does_not_keep_a_run_from_going_on(tmp_path):
    before = planted.rows(run(tmp_path / "run"))
    (tmp_path / "run" / "provenance.json").write_text('{"sess')
    assert planted.rows(run(tmp_path / "run", resume=True)) == before


def test_a_session_cut_short_does_not_replace_the_account_of_one_that_came_further(tmp_path):
    run(tmp_path / "run")
    with RunStore.read(tmp_path / "run") as store:
        whole = store.totals()
    list(run(tmp_path / "run", resume=True, limits=instar.Limits(seconds=0)))
    with RunStore.read(tmp_path / "run") as store:
        cut = store.totals()
    assert (cut.queries, cut.scenes, cut.finished) == (whole.queries, whole.scenes, False)


def test_a_run_that_cannot_be_written_can_still_be_read(tmp_path):
    records = planted.rows(run(tmp_path / "run"))
    place = tmp_path / "read-only"
    place.mkdir()
    bind = subprocess.run(["mount", "--bind", tmp_path / "run", place], capture_output=True)
    if bind.returncode:
        pytest.skip(f"a folder cannot be mounted read-only here: {bind.stderr.decode().strip()}")
    try:
        subprocess.run(["mount", "-o", "remount,ro,bind", place], check=True)
        with RunStore.read(place) as store:
            assert planted.rows(store.records()) == records
    finally:
        subprocess.run(["umount", place], check=True)
