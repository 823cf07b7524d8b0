"""Pictures on demand: cases are made again from their recipes, one by one, and the last ones are kept.

Each run has two threads, one for thumbnails and one for whole cases, so that whoever opens a case does not
wait behind a page of thumbnails.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from instar.campaigns.reader import Named, RunReader, open_run
from instar.core.errors import BadInput, InstarError
from instar.imaging.codecs import encode_png
from instar.imaging.preview import encode_preview, heat_overlay
from instar.report.answers import answer_text
from instar.report.cards import CaseView
from instar.report.case_picture import draw_thumbnail
from instar.workbench import NotHere
from instar.workbench.workers import Recent

MOST_RUNS = 6  # open at once
MOST_SHOWN, MOST_FILES = 12, 3_000
THUMBNAIL = 480  # pixels: some more than a card is wide

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Wanted:
    """A case as the table has it: in another run of the same name, or judged anew, it looks otherwise."""

    folder: Path
    identity: Hashable
    case: str
    verdict: Hashable
    trusted: bool = False
    """Whether the code that the run's plan names may be run."""


class _Lane:
    """A run opened on a thread of its own, since a database connection stays with its thread."""

    def __init__(self, folder: Path, *, trusted: bool) -> None:
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="studio")
        self._folder, self._named = folder, Named(trusted=trusted)
        self._open = contextlib.ExitStack()
        self._cases: RunReader | None = None

    def do(self, work: Callable[[RunReader], T]) -> Future[T]:
        return self._thread.submit(self._do, work)

    def close(self) -> None:
        with contextlib.suppress(RuntimeError):
            self._thread.submit(self._open.close)
        self._thread.shutdown(wait=False)

    def _do(self, work: Callable[[RunReader], T]) -> T:
        if self._cases is None:
            self._cases = self._open.enter_context(open_run(str(self._folder), named=self._named, quiet=True))
        return work(self._cases)


class Studio:
    """Where pictures are made."""

    def __init__(self) -> None:
        self._lanes = Recent[_Lane](2 * MOST_RUNS)
        self._shown = Recent[CaseView](MOST_SHOWN)
        self._files = Recent[bytes](MOST_FILES)
        self._opening = threading.Lock()

    def show(self, wanted: Wanted) -> Future[CaseView]:
        """The case with its panels."""
        return self._kept(self._shown, wanted, wanted, lambda cases: _shown(cases, wanted.case))

    def thumbnail(self, wanted: Wanted, place: Sequence[float] = ()) -> Future[bytes]:
        """What the case is about, or a `place` in it, before and after, small, as WebP; empty where there is
        no picture.
        """

        def work(cases: RunReader) -> bytes:
            shown = _shown(cases, wanted.case)
            drawn = draw_thumbnail(shown.record, shown.panels, place)
            return b"" if drawn is None else encode_preview(drawn, longest=THUMBNAIL)

        return self._kept(self._files, ("thumbnail", wanted, *place), wanted, work, lane="thumbnails")

    def panel(self, wanted: Wanted, number: int, *, heat: bool = False) -> Future[bytes]:
        """One panel's picture, or the heat map over it, as WebP."""

        def work(cases: RunReader) -> bytes:
            panels = self._made(self._shown, wanted, lambda: _shown(cases, wanted.case)).panels
            if not 0 <= number < len(panels):
                raise NotHere(f"the case has no panel {number}")
            panel = panels[number]
            if heat:
                return b"" if panel.heat is None else heat_overlay(panel.heat)
            return encode_preview(panel.picture, longest=2048, quality=88)

        return self._kept(self._files, ("panel", wanted, number, heat), wanted, work)

    def drawing(self, wanted: Wanted) -> Future[bytes]:
        """The case as one picture, PNG; empty where it has none."""

        def work(cases: RunReader) -> bytes:
            picture = cases.picture(wanted.case)
            return b"" if picture is None else encode_png(picture)

        return self._kept(self._files, ("drawing", wanted), wanted, work)

    def answers(self, wanted: Wanted) -> Future[Sequence[str]]:
        """What the system said to the source and to each follow-up."""
        return self._lane(wanted, "cases").do(
            lambda cases: [answer_text(one) for one in cases.answers(wanted.case)]
        )

    def close(self) -> None:
        for lane in self._lanes.values():
            lane.close()

    def _kept(
        self,
        kept: Recent[T],
        key: Hashable,
        wanted: Wanted,
        work: Callable[[RunReader], T],
        lane: str = "cases",
    ) -> Future[T]:
        """What is kept under that key, or else made on a lane of the run."""
        made = kept.get(key)
        if made is None:
            return self._lane(wanted, lane).do(lambda cases: self._made(kept, key, lambda: work(cases)))
        future: Future[T] = Future()
        future.set_result(made)
        return future

    @staticmethod
    def _made(kept: Recent[T], key: Hashable, make: Callable[[], T]) -> T:
        made = kept.get(key)
        if made is None:
            made = make()
            kept.put(key, made)
        return made

    def _lane(self, wanted: Wanted, purpose: str) -> _Lane:
        key = (wanted.folder, wanted.identity, wanted.trusted, purpose)
        with self._opening:
            lane = self._lanes.get(key)
            if lane is None:
                lane = _Lane(wanted.folder, trusted=wanted.trusted)
                for gone in self._lanes.put(key, lane):
                    gone.close()
            return lane


def _shown(cases: RunReader, case: str) -> CaseView:
    """The case; whatever keeps its pictures from being made is said in words: a run may come from anybody."""
    try:
        return cases.show(case)
    except InstarError:
        raise
    except Exception as error:
        raise BadInput(f"its pictures cannot be made: {type(error).__name__}: {error}") from error
