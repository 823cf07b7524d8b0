"""Bad input of every kind is refused in one line, and what is accepted is counted right.

`fuzz/KIND/` has files that once broke something; whatever breaks now is written there, to be committed
together with what mends it.
"""

from __future__ import annotations

import hashlib
import lzma
import multiprocessing
import os
import random
import resource
import signal
import struct
import tempfile
import time
import traceback
import warnings
import zlib
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import cv2
import pytest

from fuzz_kinds import KINDS
from fuzz_mutations import PNG, sealed
from instar.core.errors import InstarError
from instar.imaging.codecs import decode_picture

CORPUS = Path(__file__).parent / "fuzz"
KEPT = sorted(path for path in CORPUS.glob("*/*") if path.is_file())
MOST_SECONDS = 20
MOST_BYTES = 2 << 30
PART = 50  # inputs that one process is given at a time


class Outcome(NamedTuple):
    """What became of an input: accepted, refused or broken; in what way, and how much CPU time it took."""

    what: str
    words: str
    data: bytes
    seconds: float


class TooSlow(BaseException):
    """No Exception: the command line must not take it for one of its own."""


@contextmanager
def time_limit() -> Iterator[None]:
    def late(*_: object) -> None:
        raise TooSlow

    before = signal.signal(signal.SIGPROF, late)
    signal.setitimer(signal.ITIMER_PROF, MOST_SECONDS)  # CPU time: a busy machine is not to blame
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def try_input(kind: str, folder: Path, data: bytes) -> Outcome:
    began = time.process_time()
    what, words = "accepted", ""
    try:
        with time_limit(), warnings.catch_warnings():
            warnings.simplefilter("error")
            KINDS[kind].feed(folder, data)
    except InstarError as error:
        what = "refused" if "\n" not in str(error) else "broken"
        words = str(error)[:200]
    except (Exception, TooSlow) as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        what, words = (
            "broken",
            f"{type(error).__name__}: {error} in {Path(place.filename).name}:{place.lineno}",
        )
    return Outcome(what, words[:400], data if what == "broken" else b"", time.process_time() - began)


def try_part(kind: str, first: int) -> tuple[list[Outcome], int]:
    """Some inputs of a kind, always the same; and the most memory that this process has had, in bytes."""
    bound_memory()
    outcomes = []
    with tempfile.TemporaryDirectory(prefix="instar-fuzz-") as place:
        folder = Path(place, "set")
        folder.mkdir()
        examples = KINDS[kind].examples(folder)
        if first == 0:
            outcomes += [try_input(kind, folder, example) for example in examples]
        for number in range(first, min(first + PART, KINDS[kind].count)):
            rng = random.Random(f"{kind} {number}")
            outcomes.append(try_input(kind, folder, KINDS[kind].spoil(rng, rng.choice(examples), examples)))
    return outcomes, most_memory()


def most_memory() -> int:
    """The most this process has held; `ru_maxrss` is inherited from the process that began it."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) << 10 for line in lines if line.startswith("VmHWM:"))


def bound_memory() -> None:
    """What needs more than 2 GB fails at once, and takes no other process with it."""
    cv2.setNumThreads(1)  # of many, each would have its own part of the address space
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    if resource.getrlimit(resource.RLIMIT_AS)[0] == resource.RLIM_INFINITY:
        most = pages * resource.getpagesize() + MOST_BYTES
        resource.setrlimit(resource.RLIMIT_AS, (most, most))


def keep(kind: str, data: bytes) -> None:
    (CORPUS / kind).mkdir(parents=True, exist_ok=True)
    name = hashlib.sha256(data).hexdigest()[:12]
    if len(data) > 2000:
        (CORPUS / kind / f"{name}.xz").write_bytes(lzma.compress(data))
    else:
        (CORPUS / kind / name).write_bytes(data)


@pytest.mark.parametrize("path", KEPT, ids=[f"{path.parent.name}-{path.name}" for path in KEPT])
def test_what_once_broke_something_is_accepted_or_refused_in_one_line(path: Path, tmp_path: Path) -> None:
    data = lzma.decompress(path.read_bytes()) if path.suffix == ".xz" else path.read_bytes()
    folder = tmp_path / "set"
    folder.mkdir()
    KINDS[path.parent.name].examples(folder)
    outcome = try_input(path.parent.name, folder, data)
    assert outcome.what in ("accepted", "refused"), outcome.words


@pytest.mark.real
def test_ten_thousand_spoilt_files_are_accepted_or_refused_in_one_line() -> None:
    assert sum(kind.count for kind in KINDS.values()) >= 10_000
    parts = [(name, first) for name, kind in KINDS.items() for first in range(0, kind.count, PART)]
    found: dict[str, list[Outcome]] = {name: [] for name in KINDS}
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(os.cpu_count(), mp_context=context) as processes:
        done = list(processes.map(try_part, *zip(*parts)))
    for (name, _), (outcomes, _) in zip(parts, done):
        found[name] += outcomes
    broken = []
    for name, outcomes in found.items():
        counts = Counter(outcome.what for outcome in outcomes)
        slowest = max(outcome.seconds for outcome in outcomes)
        print(f"{name:14}{len(outcomes):6} tried {dict(counts)}, slowest {slowest:.1f} s")
        for outcome in outcomes:
            if outcome.what == "broken":
                keep(name, outcome.data)
                broken.append(f"{name}: {outcome.words}")
        assert counts["accepted"], f"not one {name} was accepted, so that only refusals were tried"
    most = max(memory for _, memory in done)
    print(f"at most {most >> 20} MiB in a process")
    assert not broken, "\n".join(broken[:50])
    assert most < MOST_BYTES


@pytest.mark.real
def test_the_largest_picture_that_is_read_takes_less_than_two_gigabytes() -> None:
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context) as process:
        shape, most = process.submit(read_largest).result()
    assert shape == (10_000, 10_000, 3)
    assert most < MOST_BYTES


def read_largest() -> tuple[tuple[int, ...], int]:
    """A PNG of 100 million pixels with alpha and 16 bits a channel, of a few hundred kilobytes."""
    packing = zlib.compressobj(1)
    row = bytes(1 + 8 * 10_000)
    packed = b"".join([*(packing.compress(row) for _ in range(10_000)), packing.flush()])
    header = struct.pack(">IIBBBBB", 10_000, 10_000, 16, 6, 0, 0, 0)
    chunks = [(b"IHDR", header), (b"IDAT", packed), (b"IEND", b"")]
    parts = [len(body).to_bytes(4, "big") + name + body + bytes(4) for name, body in chunks]
    bound_memory()
    picture = decode_picture(sealed(PNG + b"".join(parts)))
    return picture.shape, most_memory()
