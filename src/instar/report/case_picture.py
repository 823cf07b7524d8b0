"""A case as one picture: its panels side by side with their marks, under a line of words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import cv2
import numpy as np

from instar.core.marks import Dial, Fate, Mark, Panel
from instar.core.record import Record
from instar.core.scene import Image
from instar.imaging.sheets import FONT, INK, PAPER, Colour, dashed_line, drawable, panel, sheet
from instar.report.close_up import close_ups, cut_out

SIDE = 620  # pixels per panel, at most
THUMBNAIL = (400, 600)  # height and width: twice what pages show
FATE_COLOURS: Mapping[Fate, Colour] = {
    "matched": (46, 160, 67),
    "lost": (218, 30, 40),
    "new": (240, 136, 8),
    "moved": (214, 155, 0),
    "renamed": (163, 72, 214),
    "change": (20, 110, 230),
    "unsure": (139, 146, 156),
}
QUIET = ("matched", "unsure")
Place = tuple[int, int, int, int]


def draw_case(panels: Sequence[Panel], sentence: str, *, beside: bool | None = None) -> Image | None:
    """The panels under a sentence; None where there are none."""
    return sheet([_Drawing(one).drawn() for one in panels], sentence, beside=beside) if panels else None


def draw_thumbnail(record: Record, panels: Sequence[Panel], place: Sequence[float] = ()) -> Image | None:
    """What a finding is about, before and after, without words; of one without a place the last picture.

    `place` (x1, y1, x2, y2 in the source) is shown instead of what the case's own finding is about.
    """
    if not panels:
        return None
    height, width = THUMBNAIL
    parts = (
        close_ups(record, panels, aspect=width / 2 / height, most=1.0, place=place) if len(panels) > 1 else []
    )
    if not parts:
        return _Drawing(panels[-1], most=1.0).outlined()
    halves = [cut_out(panels[at], parts[at]) for at in (0, -1)]
    shown = [cv2.resize(_Drawing(one, most=4.0).outlined(), (width // 2 - 2, height)) for one in halves]
    return np.hstack([shown[0], np.full((height, 4, 3), PAPER, np.uint8), shown[1]])


class _Drawing:
    """One panel to be drawn, scaled to a common size."""

    def __init__(self, one: Panel, *, most: float = 2.0) -> None:
        self._image, self._scale = panel(_with_heat(one), side=SIDE, most=most)
        self._panel = one
        self._tags: list[Place] = []

    def outlined(self) -> Image:
        """The picture with what became of something outlined."""
        for mark in self._panel.marks:
            if mark.fate not in QUIET:
                self._outline(mark, thicker=3)
        return self._image

    def drawn(self) -> Image:
        """What matters most lies on top, and its label gets the best place."""
        marks = self._panel.marks
        for mark in sorted(marks, key=lambda m: m.fate not in QUIET):
            self._outline(mark)
        words = ", ".join(filter(None, [self._panel.title, *map(_dial_words, self._panel.dials)]))
        if words:
            self._tag(words, [(6, 24)], INK, bold=True)
        for mark in sorted(marks, key=lambda m: (m.fate in QUIET, m.fate != "change")):
            if mark.label:
                corners = self._corners(mark)
                (x1, y1), (x2, y2) = corners.min(axis=0).tolist(), corners.max(axis=0).tolist()
                above, under, inside = (x1, y1), (x1, y2 + 17), (x1, y1 + 17)
                places = [under, above, inside] if mark.fate == "change" else [above, under, inside]
                places += [(x2, y1 + 17), (x2, y2), (x1, y2)]
                self._tag(mark.label, places, FATE_COLOURS[mark.fate], bold=mark.fate not in QUIET)
        return self._image

    def _corners(self, mark: Mark) -> np.ndarray[tuple[int, int], np.dtype[np.intp]]:
        return np.rint(np.asarray(mark.outline) * self._scale).astype(np.intp)

    def _outline(self, mark: Mark, *, thicker: int = 0) -> None:
        corners = self._corners(mark).tolist()
        colour = FATE_COLOURS[mark.fate]
        thickness = thicker + (1 if mark.fate in QUIET else 2 if mark.fate == "change" else 3)
        for (x1, y1), (x2, y2) in zip(corners, [*corners[1:], corners[0]]):
            if mark.fate == "lost":
                dashed_line(self._image, (x1, y1), (x2, y2), colour, thickness=thickness)
            else:
                cv2.line(self._image, (x1, y1), (x2, y2), colour, thickness, cv2.LINE_AA)

    def _tag(self, text: str, corners: Sequence[tuple[int, int]], colour: Colour, *, bold: bool) -> None:
        """Text on a coloured ground, at the first of its lower left corners where it covers no other.

        Where every place is taken, what matters is written all the same and the rest is left out.
        """
        text = drawable(text)
        size = 0.45 if bold else 0.38
        (width, height), base = cv2.getTextSize(text, FONT, size, 1)
        width, height = width + 6, height + base + 3
        rows, columns = self._image.shape[:2]
        places: list[Place] = []
        for x, y in corners:
            left = max(0, min(x, columns - width))
            bottom = max(height, min(y, rows))
            places.append((left, bottom - height, left + width, bottom))
        free = [place for place in places if not any(_cover(place, tag) for tag in self._tags)]
        if not (free or bold):
            return
        place = (free or places)[0]
        self._tags.append(place)
        cv2.rectangle(self._image, place[:2], (place[2] - 1, place[3] - 1), colour, cv2.FILLED)
        at = (place[0] + 3, place[3] - base - 1)
        cv2.putText(self._image, text, at, FONT, size, PAPER, 1, cv2.LINE_AA)


def _with_heat(one: Panel) -> Image:
    """The picture, red where the heat map is hot."""
    if one.heat is None:
        return np.asarray(one.picture, np.uint8)
    height, width = one.picture.shape[:2]
    heat = cv2.resize(one.heat, (width, height), interpolation=cv2.INTER_LINEAR)
    most = float(heat.max())
    share = (0.65 * heat / most if most > 0 else heat)[..., None]
    colours = cv2.applyColorMap(np.rint(255 * heat / (most or 1)).astype(np.uint8), cv2.COLORMAP_JET)
    mixed = one.picture * (1 - share) + colours[..., ::-1] * share
    return np.asarray(np.rint(mixed), np.uint8)


def _dial_words(dial: Dial) -> str:
    sign = "+" if dial.low * dial.high < 0 else ""
    unit = "degrees" if dial.unit == "°" else dial.unit  # the font has no such sign
    return f"{dial.name} {dial.value:{sign}.1f} {unit}"


def _cover(a: Place, b: Place) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]
