"""Faults planted over an honest interpreter of any classifier: its maps are spoilt before they are told.

Some are always there. Others show only where a picture was changed by more than null changes do: a fault is
told the pictures that the scenes have and compares blocks of pixels.
"""

from __future__ import annotations

import cv2
import numpy as np

from instar.core.digest import digest
from instar.tasks.interpretation import Asked, Classes, Explanation

SIDE = 56
BLOCKS = 24


def thumbnail(image):
    return cv2.resize(image, (BLOCKS, BLOCKS), interpolation=cv2.INTER_AREA).astype(np.int16)


class Honest:
    """An interpreter whose answers are kept, so that all faults are planted over the same ones."""

    def __init__(self, system, pictures):
        self.system, self.pictures = system, pictures
        self.thumbnails = [thumbnail(one) for one in pictures]
        self._answers, self._variants = {}, {"": system}
        self.variant, self.first = "", {}

    def ask(self, question, variant=""):
        key = (variant, digest(question))
        if key not in self._answers:
            if variant not in self._variants:
                self._variants[variant] = self.system.variant(variant)
            (self._answers[key],) = self._variants[variant].predict([question])
        return self._answers[key]

    def map(self, asked, variant=""):
        """`float (56, 56)` in [0, 1]."""
        heat = np.maximum(self.ask(asked, variant).heat, 0)
        return cv2.resize(heat / max(1e-9, float(heat.max())), (SIDE, SIDE), interpolation=cv2.INTER_LINEAR)

    def changed(self, image):
        """`bool (24, 24)`: blocks that differ from the scene that is most like the picture.

        A few blocks of a shifted picture differ along its edges; of one with something new in it, many.
        """
        seen = thumbnail(image)
        differ = [np.abs(seen - one).max(2) > 24 for one in self.thumbnails]
        least = min(differ, key=np.count_nonzero)
        return least if np.count_nonzero(least) >= 4 else np.zeros_like(least)

    def nearest(self, image):
        seen = thumbnail(image)
        near = [float(np.abs(seen - one).mean()) for one in self.thumbnails]
        return self.pictures[int(np.argmin(near))]


def spoil(fault, honest, asked, variant=""):
    """What the honest system answers, with a fault of that name in its map, or with none."""
    answer = honest.ask(asked, variant)
    if fault is None or not asked.explain:
        return answer
    changed, honest.variant = honest.changed(asked.image), variant
    heat = np.maximum((FAULTS | MORE_FAULTS)[fault](honest.map(asked, variant), asked, changed, honest), 0)
    return Explanation(answer.confidence, np.float32(heat / max(1e-9, float(heat.max()))), answer.random)


def shift(heat, share):
    """Right, by a share of the width."""
    step = round(share * SIDE)
    return np.hstack([np.zeros((SIDE, step)), heat[:, : SIDE - step]])


def large(mask):
    return cv2.resize(mask.astype(np.float32), (SIDE, SIDE), interpolation=cv2.INTER_LINEAR)


def edges(image):
    grey = cv2.resize(cv2.cvtColor(image, cv2.COLOR_RGB2GRAY), (SIDE, SIDE), interpolation=cv2.INTER_AREA)
    return np.abs(cv2.Laplacian(cv2.GaussianBlur(grey, (0, 0), 1).astype(np.float32), cv2.CV_32F))


def brightest(image):
    grey = cv2.resize(cv2.cvtColor(image, cv2.COLOR_RGB2GRAY), (SIDE, SIDE), interpolation=cv2.INTER_AREA)
    return cv2.GaussianBlur(grey.astype(np.float32), (0, 0), 4) ** 8


def centre():
    y, x = (np.indices((SIDE, SIDE)) + 0.5) / SIDE - 0.5
    return np.exp(-(x**2 + y**2) / 0.03)


def spot(heat):
    made = np.zeros_like(heat)
    made.flat[int(heat.argmax())] = 1
    return cv2.GaussianBlur(made, (0, 0), 2)


def pattern(seed):
    noise = np.random.default_rng(seed).random((SIDE, SIDE)).astype(np.float32)
    noise = cv2.GaussianBlur(noise, (0, 0), 4)
    return (noise - noise.min()) / (noise.max() - noise.min())


def coarse(heat):
    cells = cv2.resize(heat, (3, 3), interpolation=cv2.INTER_AREA)
    return cv2.resize(
        (cells >= cells.max()).astype(np.float32), (SIDE, SIDE), interpolation=cv2.INTER_NEAREST
    )


def left_half(heat):
    made = heat.copy()
    made[:, SIDE // 2 :] = 0
    return made


def with_frame(heat):
    return np.pad(heat[3:-3, 3:-3], 3, constant_values=1)


def with_other_class(heat, asked, honest):
    """Where it is sure of two classes, it explains both whichever is asked about."""
    seen = honest.ask(Classes(asked.image)).confidences
    sure = sorted(label for label, value in seen.items() if value >= 0.6)
    return sum(honest.map(Asked(asked.image, label)) for label in sure[:2]) if len(sure) > 1 else heat


def is_wide(image):
    return image.shape[1] > 1.2 * image.shape[0]


def after(changed, spoilt, heat):
    return spoilt if changed.any() else heat


FAULTS = {
    "edges of the picture": lambda h, a, c, s: edges(a.image),
    "inverted after a change": lambda h, a, c, s: after(c, 1 - h, h),
    "covers 85 % after a change": lambda h, a, c, s: after(c, np.float32(h >= np.quantile(h, 0.15)), h),
    "also lights what was changed": lambda h, a, c, s: np.maximum(h, large(c)),
    "shifted by 60 of 500 px after a change": lambda h, a, c, s: after(c, shift(h, 0.12), h),
    "shifted by 120 of 500 px after a change": lambda h, a, c, s: after(c, shift(h, 0.24), h),
    "always shifted by 40 of 500 px": lambda h, a, c, s: shift(h, 0.08),
    "always half a cell up and left": lambda h, a, c, s: np.pad(h, ((0, 4), (0, 4)))[4:, 4:],
    "collapsed to a spot after a change": lambda h, a, c, s: after(c, spot(h), h),
    "flipped after a change": lambda h, a, c, s: after(c, h[:, ::-1], h),
    "always upside down": lambda h, a, c, s: h[::-1],
    "always left for right": lambda h, a, c, s: h[:, ::-1],
    "rows for columns": lambda h, a, c, s: h.T,
    "always the centre": lambda h, a, c, s: centre(),
    "the brightest place": lambda h, a, c, s: brightest(a.image),
    "delayed: the map before the change": lambda h, a, c, s: s.map(Asked(s.nearest(a.image), a.label)),
    "low contrast": lambda h, a, c, s: 0.7 + 0.3 * h,
    "saturating": lambda h, a, c, s: np.minimum(1, 20 * h + 0.4),
    "quantised to a cell of three by three": lambda h, a, c, s: coarse(h),
    "a fixed pattern beneath": lambda h, a, c, s: 0.15 * h + pattern(3),
    "only the left half": lambda h, a, c, s: left_half(h) + 1e-3 * h,
    "both classes where it is sure of two": lambda h, a, c, s: with_other_class(h, a, s),
    "flipped for some classes": lambda h, a, c, s: h[:, ::-1] if len(a.label) % 2 else h,
    "shifted in wide pictures": lambda h, a, c, s: shift(h, 0.2) if is_wide(a.image) else h,
    "the network before its last training": lambda h, a, c, s: s.map(a, "weights 0.99"),
    "always hot at the edges": lambda h, a, c, s: with_frame(h),
    "ranks instead of heat": lambda h, a, c, s: by_rank(h),
    "gone after a change": lambda h, a, c, s: after(c, 0 * h, h),
    "a pattern for each class": lambda h, a, c, s: pattern(len(a.label) * 7 + ord(a.label[0])),
}  # fmt: skip
"""By what is wrong: from a map, the question, what was changed and the honest system to another map."""


def other(s, asked, *, image=None, label=None):
    """The map of another question to the same network."""
    shown = asked.image if image is None else np.ascontiguousarray(image)
    return s.map(Asked(shown, label or asked.label, asked.seed), s.variant)


def in_the_corner(heat):
    made = np.zeros((SIDE, SIDE), np.float32)
    half = SIDE // 2
    made[:half, :half] = cv2.resize(heat, (half, half), interpolation=cv2.INTER_AREA)
    return made


def cut_at_random(heat, asked):
    least = 0.15 + 0.75 * (int(digest(asked)[:8], 16) / 16**8)
    return np.float32(heat >= least)


def letterboxed(heat, image):
    rows, columns = image.shape[:2]
    wide = max(1, round(SIDE * columns / rows))
    made, left = np.zeros((SIDE, SIDE), np.float32), (SIDE - wide) // 2
    made[:, left : left + wide] = cv2.resize(heat, (wide, SIDE), interpolation=cv2.INTER_AREA)
    return made


def blurred_with_height(heat):
    made = heat.copy()
    for i, y in enumerate(range(0, 48, 8)):
        made[y : y + 8] = cv2.GaussianBlur(heat, (0, 0), 1 + 1.6 * (6 - i))[y : y + 8]
    return made


ALIKE = (
    ("cat", "dog"), ("car", "bus"), ("horse", "cow"), ("sofa", "chair"), ("bicycle", "motorbike"),
    ("diningtable", "bottle"), ("tvmonitor", "pottedplant"), ("boat", "aeroplane"), ("sheep", "bird"),
)  # fmt: skip
INSTEAD = {**dict(ALIKE), **{b: a for a, b in ALIKE}}


def with_surest(heat, asked, s):
    seen = s.ask(Classes(asked.image), s.variant).confidences
    return heat + 0.7 * other(s, asked, label=max(seen, key=seen.get))


def next_label(asked, s):
    labels = sorted(s.ask(Classes(asked.image)).confidences)
    return labels[(labels.index(asked.label) + 1) % len(labels)]


def chequered(heat):
    y, x = np.indices(heat.shape) // 8
    return heat * np.where((x + y) % 2, 1, 0.1)


def by_rank(heat):
    return np.argsort(np.argsort(heat.ravel())).reshape(heat.shape) / heat.size


def is_blurred(image, s):
    """Less sharp than the scene that is most like it."""

    def sharpness(one):
        grey = cv2.cvtColor(cv2.resize(one, (320, 320), interpolation=cv2.INTER_AREA), cv2.COLOR_RGB2GRAY)
        return cv2.Laplacian(grey, cv2.CV_32F).var()

    return sharpness(image) < 0.8 * sharpness(s.nearest(image))


def with_next_scene(heat, asked, s):
    near = s.nearest(asked.image)
    at = next(i for i, one in enumerate(s.pictures) if one is near)
    return heat + 0.6 * other(s, asked, image=s.pictures[(at + 1) % len(s.pictures)])


def is_surest(asked, s):
    seen = s.ask(Classes(asked.image), s.variant).confidences
    return max(seen, key=seen.get) == asked.label


def cold_on_skin(heat, image):
    small = cv2.resize(image, (SIDE, SIDE), interpolation=cv2.INTER_AREA).astype(np.float32)
    red = np.clip((small[..., 0] - small[..., 2] - 20) / 30, 0, 1)
    return heat * (1 - 0.95 * cv2.GaussianBlur(red, (0, 0), 1.5))


def blurred_with_size(heat, image):
    much = image.shape[0] * image.shape[1] / (500 * 375) - 0.9
    return cv2.GaussianBlur(heat, (0, 0), max(0.1, 8 * much))


MORE_FAULTS = {
    "drawn small in the corner": lambda h, a, c, s: in_the_corner(h),
    "each row as hot as the others": lambda h, a, c, s: h / np.maximum(1e-6, h.max(1, keepdims=True)),
    "the hottest hundredth alone": lambda h, a, c, s: np.float32(h >= np.quantile(h, 0.99)),
    "cut at random": lambda h, a, c, s: cut_at_random(h, a),
    "remembered by size and class": lambda h, a, c, s: s.first.setdefault((a.image.shape, a.label), h),
    "portraits letterboxed": lambda h, a, c, s: (
        letterboxed(h, a.image) if a.image.shape[0] > a.image.shape[1] else h
    ),
    "a similar class instead": lambda h, a, c, s: other(s, a, label=INSTEAD.get(a.label)),
    "the next class instead": lambda h, a, c, s: other(s, a, label=next_label(a, s)),
    "blurred towards the top": lambda h, a, c, s: blurred_with_height(h),
    "bytes that overflow": lambda h, a, c, s: np.float32((np.uint16(h * 300) % 256) / 255),
    "the mirror's map added": lambda h, a, c, s: h + other(s, a, image=a.image[:, ::-1]),
    "the map of the negative": lambda h, a, c, s: other(s, a, image=255 - a.image),
    "the surest class added": lambda h, a, c, s: with_surest(h, a, s),
    "inverted where less sure": lambda h, a, c, s: 1 - h if s.ask(a, s.variant).confidence < 0.85 else h,
    "wrapped round by a quarter": lambda h, a, c, s: np.roll(h, SIDE // 4, axis=1),
    "chequered": lambda h, a, c, s: chequered(h),
    "a ghost of the next picture": lambda h, a, c, s: with_next_scene(h, a, s),
    "inverted where blurred": lambda h, a, c, s: 1 - h if is_blurred(a.image, s) else h,
    "flipped where not the surest": lambda h, a, c, s: h if is_surest(a, s) else h[:, ::-1],
    "cold on skin": lambda h, a, c, s: cold_on_skin(h, a.image),
    "more blurred the larger": lambda h, a, c, s: blurred_with_size(h, a.image),
}
"""Those that the relations were not made with; some are not found. They are measured, not kept as a test."""
