"""Killed at any instant or interrupted, a run resumes, asks nothing again, and ends the same."""

import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

import planted_core as planted
from instar.store import RunStore

HERE = Path(__file__).parent
BATCH = 3
CAMPAIGN = f"""
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # which a shell in the background takes away
import instar, planted_core as planted
system = planted.Counting(sys.argv[2], batch={BATCH}, pause=0.02)
relations = [planted.checked, planted.double]
for record in instar.run(planted.pictures(12), relations, system, search=planted.walk(5), seed=1, workers=2,
                         limits=instar.Limits(queries=600), out=sys.argv[1], resume=True):
    pass
print("ended")
"""


def start(run, log):
    path = os.pathsep.join([str(HERE.parents[1] / "src"), str(HERE.parent)])
    command = [sys.executable, "-c", CAMPAIGN, str(run), str(log)]
    environment = {**os.environ, "PYTHONPATH": path}
    return subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def committed(run):
    """How often each picture's answer is in the run file."""
    if not (run / "run.sqlite").exists():
        return Counter()
    database = sqlite3.connect(run / "run.sqlite")
    try:
        return Counter(row[0].hex() for row in database.execute("SELECT input FROM answers"))
    except sqlite3.OperationalError:  # killed before the tables were made
        return Counter()
    finally:
        database.close()


def asked(log):
    return Counter(log.read_text().split()) if log.exists() else Counter()


def uninterrupted(tmp_path):
    done = start(tmp_path / "whole", tmp_path / "whole.log")
    out, err = done.communicate(timeout=3000)
    assert (out, err) == ("ended\n", "")
    with RunStore.read(tmp_path / "whole") as store:
        records, totals = planted.rows(store.records()), store.totals()
    needed = committed(tmp_path / "whole")
    assert needed == asked(tmp_path / "whole.log")
    return records, needed, totals


def wait_until_it_asks(process, log, at_least):
    while process.poll() is None and sum(asked(log).values()) < at_least:
        time.sleep(0.002)


def test_killed_at_twenty_random_instants_a_run_ends_as_if_nothing_had_happened(tmp_path):
    records, needed, totals = uninterrupted(tmp_path)
    run, chance, in_the_middle = tmp_path / "run", random.Random(20), 0
    for kill in range(20):
        known, log = committed(run), tmp_path / f"{kill}.log"
        process = start(run, log)
        if kill >= 3:  # the first ones are killed whenever, also while it starts
            wait_until_it_asks(process, log, chance.randint(1, 12))
        time.sleep(chance.uniform(0.0, 0.02) if kill >= 3 else chance.uniform(0.1, 0.6))
        in_the_middle += process.poll() is None
        process.kill()
        process.communicate()
        assert not asked(log) - (needed - known), "something committed was asked again"
        # What was being asked when the process died may be lost, and the batch before, not yet kept.
        assert sum((known + asked(log)).values()) - sum(committed(run).values()) <= 2 * BATCH
    assert in_the_middle >= 15, "it had ended before most of the kills: give it more to ask"
    known, log = committed(run), tmp_path / "last.log"
    out, err = start(run, log).communicate(timeout=3000)
    assert (out, err) == ("ended\n", "")
    assert asked(log) == needed - known
    with RunStore.read(run) as store:
        assert planted.rows(store.records()) == records
        assert store.totals().queries == totals.queries
        assert store.totals().asked == sum((needed - known).values())
        assert store.totals().finished


@pytest.mark.real
def test_killed_fifty_times_also_while_it_ends_a_run_ends_as_if_nothing_had_happened(tmp_path):
    records, _, totals = uninterrupted(tmp_path)
    run, chance = tmp_path / "run", random.Random(50)
    for kill in range(35):
        log = tmp_path / f"{kill}.log"
        process = start(run, log)
        wait_until_it_asks(process, log, chance.randint(1, 8))
        time.sleep(chance.uniform(0.0, 0.02))
        process.kill()
        process.communicate()
    began = time.monotonic()
    assert start(run, tmp_path / "whole.log").communicate(timeout=3000) == ("ended\n", "")
    # From here on nothing is left to ask: records are made again, and the account is closed.
    took = time.monotonic() - began
    began = time.monotonic()
    assert start(run, tmp_path / "again.log").communicate(timeout=3000) == ("ended\n", "")
    took = min(took, time.monotonic() - began)
    for _ in range(15):
        process = start(run, tmp_path / "nothing.log")
        time.sleep(max(0.0, took - chance.uniform(0.0, 0.4)))
        process.kill()
        process.communicate()
        with RunStore.read(run) as store:
            assert planted.rows(store.records()) == records
    assert start(run, tmp_path / "nothing.log").communicate(timeout=3000) == ("ended\n", "")
    assert not asked(tmp_path / "nothing.log")
    with RunStore.read(run) as store:
        assert planted.rows(store.records()) == records
        assert (store.totals().queries, store.totals().finished) == (totals.queries, True)


def test_interrupted_from_the_keyboard_a_run_keeps_everything_and_ends_the_same(tmp_path):
    records, needed, _ = uninterrupted(tmp_path)
    run = tmp_path / "run"
    for interrupt in range(3):
        log = tmp_path / f"{interrupt}.log"
        process = start(run, log)
        wait_until_it_asks(process, log, 20)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=3000)
        assert err.strip().endswith("KeyboardInterrupt")
        with RunStore.read(run) as store:
            assert not store.totals().finished
    known, log = committed(run), tmp_path / "last.log"
    out, err = start(run, log).communicate(timeout=3000)
    assert (out, err) == ("ended\n", "")
    assert asked(log) == needed - known
    with RunStore.read(run) as store:
        assert planted.rows(store.records()) == records
