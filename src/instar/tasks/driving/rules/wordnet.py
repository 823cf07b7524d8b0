"""What is a kind of what: WordNet's nouns by their first sense, in a table of under a megabyte.

The table is text, one line for each sense: how many lines up or down its hypernyms stand, a tab, and the
words whose first sense it is. It comes with instar and is made again from WordNet's own files by

    python -m instar.tasks.driving.rules.wordnet DICT OUT

where DICT holds `index.noun` and `data.noun` (Debian: wordnet-base, /usr/share/wordnet).
"""

from __future__ import annotations

import lzma
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path

from instar.tasks.driving.rules.vocabulary import singulars


@dataclass(frozen=True, slots=True)
class WordNet:
    """`parents` are the hypernyms of each sense, `senses` the first sense of each word."""

    parents: tuple[tuple[int, ...], ...]
    senses: dict[str, int]

    def sense(self, noun: str) -> int | None:
        """The first sense of a noun, in the singular or the plural; None where it is not known."""
        forms = (noun, *singulars(noun))
        return next((self.senses[form] for form in forms if form in self.senses), None)

    def steps_up(self, noun: str, kind: str) -> int | None:
        """How many steps `noun` is below `kind`; None where it is no kind of it.

        >>> wordnet().steps_up("ambulance", "car"), wordnet().steps_up("dog", "person")
        (1, None)
        """
        sense, goal = self.sense(noun), self.sense(kind)
        if sense is None or goal is None:
            return None
        return self._distances(sense).get(goal)

    def similarity(self, one: str, other: str) -> float:
        """Wu-Palmer similarity of the first senses as NLTK computes it, 0 where a word is not known.

        The sense that both share is the one farthest from the top on its shortest way, and its depth is
        counted on its longest.

        >>> round(wordnet().similarity("person", "pedestrian"), 2)
        0.75
        """
        first, second = self.sense(one), self.sense(other)
        if first is None or second is None:
            return 0.0
        if first == second:
            return 1.0
        up_first, up_second = self._distances(first), self._distances(second)
        shared = sorted(up_first.keys() & up_second.keys())
        if not shared:
            return 0.0
        lowest = max(shared, key=lambda sense: self._depth(sense, min))
        depth = self._depth(lowest, max)
        return 2 * depth / (2 * depth + up_first[lowest] + up_second[lowest])

    def _distances(self, sense: int) -> dict[int, int]:
        """The fewest steps to the sense itself and to everything above it."""
        found, todo = {sense: 0}, [sense]
        for below in todo:
            for above in self.parents[below]:
                if above not in found:
                    found[above] = found[below] + 1
                    todo.append(above)
        return found

    def _depth(self, sense: int, choose: Callable[[Iterable[int]], int]) -> int:
        """How many senses there are from the top down to this one, on the way that `choose` prefers."""
        above = self.parents[sense]
        return 1 + choose([self._depth(parent, choose) for parent in above]) if above else 1


@cache
def wordnet() -> WordNet:
    """The table that comes with instar."""
    return read_table(files("instar.tasks.driving.rules").joinpath("wordnet.xz").read_bytes())


def read_table(table: bytes) -> WordNet:
    """The table that `make_wordnet_table` made."""
    parents: list[tuple[int, ...]] = []
    senses: dict[str, int] = {}
    for number, line in enumerate(lzma.decompress(table).decode("utf-8").splitlines()):
        above, _, words = line.partition("\t")
        parents.append(tuple(number + int(step) for step in above.split()))
        for word in words.split(","):
            senses[word.replace("_", " ").replace("-", " ")] = number
    return WordNet(tuple(parents), senses)


def make_wordnet_table(folder: Path) -> bytes:
    """The table out of WordNet's `index.noun` and `data.noun`."""
    above: dict[str, list[str]] = {}
    for line in _lines(folder / "data.noun"):
        fields = line.split(" | ")[0].split()
        words = int(fields[3], 16)
        rest = fields[4 + 2 * words :]
        pointers = [rest[1 + 4 * i : 5 + 4 * i] for i in range(int(rest[0]))]
        above[fields[0]] = [offset for symbol, offset, kind, _ in pointers if symbol == "@" and kind == "n"]
    first: dict[str, list[str]] = {}
    for line in _lines(folder / "index.noun"):
        fields = line.split()
        senses = int(fields[2])
        if not any(character.isdigit() for character in fields[0]):
            first.setdefault(fields[-senses], []).append(fields[0])
    # Senses that are neither a word's first one nor above such are of no use.
    kept = set(first)
    todo = list(kept)
    for offset in todo:
        new = [parent for parent in above[offset] if parent not in kept]
        kept.update(new)
        todo += new
    order = {offset: number for number, offset in enumerate(sorted(kept))}
    lines = [
        " ".join(str(order[parent] - number) for parent in above[offset])
        + "\t"
        + ",".join(sorted(first.get(offset, [])))
        for offset, number in order.items()
    ]
    return lzma.compress("\n".join(lines).encode("utf-8"), preset=9 | lzma.PRESET_EXTREME)


def _lines(path: Path) -> list[str]:
    """The lines of a WordNet file without its licence, which is indented."""
    return [line for line in path.read_text(encoding="utf-8").splitlines() if not line.startswith("  ")]


def _main(arguments: Sequence[str]) -> None:
    folder, out = arguments
    Path(out).write_bytes(make_wordnet_table(Path(folder)))


if __name__ == "__main__":
    _main(sys.argv[1:])
