"""Follow-ups as training data: pictures with their words carried along, in the layout of ICDAR 2015."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path, PurePosixPath

from instar.core.errors import BadInput
from instar.core.frame import Moved
from instar.core.record import Record
from instar.core.replay import Replay
from instar.core.scene import Image, Scene
from instar.imaging.codecs import encode_png
from instar.imaging.words import Word
from instar.tasks.text.accuracy import move_words, words_after
from instar.tasks.text.changes import TextChange
from instar.tasks.text.truth import quad_of
from instar.user_file import write_file


def export_icdar(cases: Iterable[Replay], folder: Path, *, run: str, system: str) -> int:
    """The follow-ups of violated cases whose words are known; how many were written.

    ICDAR's layout has no place for the `run` and the `system`.
    """
    written = 0
    for case in cases:
        follow_up = case.follow_ups[0]
        words = follow_up.scene.knowledge.get("words")
        if words is not None:
            after = words_after(words, case.record.change)
            if follow_up.frame is not None:
                after = move_words(after, follow_up.frame.matrix)
            _write_picture(case.record, follow_up.input, after, folder)
            written += 1
    return written


def write_retraining_set(
    records: Iterable[Record], scenes: Mapping[str, Scene], folder: Path, relations: Iterable[str]
) -> int:
    """Write every case of the relations, whatever came out of it; how many were written.

    Only scenes whose words are known make training data; BadInput where none are.
    """
    wanted, written = set(relations), 0
    for record in records:
        change, scene = record.change, scenes.get(record.scene)
        if record.role != "case" or record.relation not in wanted or not isinstance(change, TextChange):
            continue
        words = None if scene is None else scene.knowledge.get("words")
        if scene is None or words is None:
            continue
        made, after = change.apply(scene.image), words_after(words, change)
        if isinstance(made, Moved):
            after, made = move_words(after, made.matrix), made.picture
        _write_picture(record, made, after, folder)
        written += 1
    if not written:
        raise BadInput(f"no case of {', '.join(sorted(wanted))} is about a picture whose words are known")
    return written


def icdar_line(word: Word) -> str:
    """A word as ICDAR 2015 writes it: whole pixels, clockwise, and ### for what nobody can read."""
    corners = ",".join(str(round(value)) for value in quad_of(word).ravel().tolist())
    return f"{corners},{'###' if word.ignored else word.text}"


def _write_picture(record: Record, picture: Image, words: Iterable[Word], folder: Path) -> None:
    """Write `images/NAME-CASE.png` and `gt/gt_NAME-CASE.txt`."""
    name = f"{PurePosixPath(record.scene).stem}-{record.case}"
    lines = "".join(f"{icdar_line(word)}\r\n" for word in words)
    write_file(folder / "images" / f"{name}.png", encode_png(picture))
    write_file(folder / "gt" / f"gt_{name}.txt", lines.encode("utf-8-sig"))
