"""A store that ends with the process, for a campaign whose records are used at once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from instar.core.campaign import AnswerKey
from instar.core.errors import BadInput, SceneChanged
from instar.core.marks import Panel
from instar.core.record import Record, Skipped, Source, Totals
from instar.core.system import Reply, describe_error
from instar.store.answers import decode_answer, encode_answer


def encode_reply(reply: Reply) -> tuple[bytes | None, Reply]:
    """The reply's answer as bytes, and the reply as it will be read; one that cannot be kept is a failure."""
    if reply.error is not None:
        return None, reply
    try:
        data = encode_answer(reply.answer)
        return data, Reply(decode_answer(data), seconds=reply.seconds)
    except (TypeError, ValueError, BadInput) as reason:
        return None, Reply(error=f"nonsense answer: {describe_error(reason)}", seconds=reply.seconds)


class MemoryStore:
    """Everything in dictionaries; answers encoded all the same, so that nothing differs from a run folder."""

    def __init__(self) -> None:
        self.records: list[Record] = []
        self.sources: dict[str, Source] = {}
        self.skipped: dict[str, Skipped] = {}
        self.pictures: dict[str, npt.NDArray[np.uint8]] = {}
        self.totals: Totals | None = None
        self._answers: dict[AnswerKey, tuple[bytes | None, Reply]] = {}

    def answer(self, key: AnswerKey) -> Reply | None:
        if key not in self._answers:
            return None
        data, reply = self._answers[key]
        return reply if data is None else Reply(decode_answer(data), seconds=reply.seconds)

    def keep_answers(self, replies: Sequence[tuple[AnswerKey, Reply]]) -> list[Reply]:
        read = []
        for key, reply in replies:
            data, as_read = encode_reply(reply)
            self._answers[key] = (data, Reply(error=as_read.error, seconds=as_read.seconds))
            read.append(as_read)
        return read

    def forget_answers(self, keys: Sequence[AnswerKey]) -> None:
        for key in keys:
            self._answers.pop(key, None)

    def keep_records(self, records: Sequence[Record]) -> None:
        self.records.extend(records)

    def keep_source(self, source: Source) -> None:
        if self.sources.setdefault(source.id, source).digest != source.digest:
            raise SceneChanged(f"{source.id} is not the picture it was; start a new run")

    def keep_skipped(self, skipped: Skipped) -> None:
        self.skipped[skipped.scene] = skipped

    def keep_picture(self, digest: str, pixels: npt.NDArray[np.uint8]) -> None:
        self.pictures[digest] = pixels

    def keep_panels(self, case: str, panels: Sequence[Panel], *, exact: bool) -> None:
        """Not kept: the pictures of a thousand findings do not fit into memory, and a run folder has them."""

    def keep_totals(self, totals: Totals) -> None:
        self.totals = totals
