"""Two systems asked the same changes: does one fail more often than the other?"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

FEWEST_SCENES = 6
"""With five, p cannot fall below 2 / 2**5 = 0.0625, whatever was seen."""
LEAST_P = 1e-12
"""The Fourier transform is right to 13 decimals; a smaller p is given as this."""


def flip_signs(differences: Sequence[int] | npt.NDArray[np.integer]) -> float | None:
    """The two-sided p-value of differences by scene; None where scenes are too few to compare.

    A difference is how many more cases of a scene the second system violates than the first (`int (n,)`).
    Cases of one scene resemble each other, so a scene and not a case is what may have come out either way:
    where both systems are equally good, each difference could as well have had the other sign. The p-value is
    the share of all 2**n choices of signs whose sum is at least as far from 0 as the one seen. All of them
    are counted, by the Fourier transform of their distribution, which is a product of cosines.

    >>> flip_signs([2, 1, 1, 3, 1, 1]), flip_signs([4, 4, 4, 4, 4])
    (0.03125, None)
    """
    seen = np.asarray(differences, np.int64)
    if len(seen) < FEWEST_SCENES:
        return None
    sizes, scenes = np.unique(np.abs(seen[seen != 0]), return_counts=True)
    largest, total = int(sizes @ scenes), abs(int(seen.sum()))
    # The sum of the sizes that get a plus lies between 0 and `largest`; twice that less `largest` is the sum.
    frequency = np.pi * np.arange((largest + 1) // 2 + 1) / (largest + 1)
    transform = np.exp(-1j * frequency * largest)
    for size, times in zip(sizes, scenes):
        transform *= np.cos(frequency * size) ** times
    chances = np.fft.irfft(transform, largest + 1)
    p = 2 * float(chances[: (largest - total) // 2 + 1].sum())
    return min(1.0, max(LEAST_P, round(p, 13)))


def adjust_holm(p_values: Sequence[float]) -> list[float]:
    """P-values of several questions asked at once, adjusted by Holm's method.

    One below 0.05 is then as rare where nothing differs as if a single question had been asked.

    >>> adjust_holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    adjusted = [1.0] * len(p_values)
    highest = 0.0
    for rank, i in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        highest = max(highest, min(1.0, (len(p_values) - rank) * p_values[i]))
        adjusted[i] = highest
    return adjusted
