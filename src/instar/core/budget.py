"""Who may ask how many questions: budgets for the scenes of a campaign, filled in rounds.

A share must be large enough to be of use. Spread evenly and all at once, 300 questions over 64 scenes
are four each: enough to find something, never enough to confirm it. So every round hands out half of
what is left in equal shares, and what has been found meanwhile is confirmed first, in scene order.
Where half is too little for a share each, those who had least come first, so that every scene is
reached before any is visited again. When nothing is left to hand out, some scenes end and leave what
they hold to the others.
Rounds end when every scene has ended or is waiting, so that neither speed nor the number of workers
decides who gets what.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

LEAST = 2  # the source and one follow-up: less than that tells nothing


@dataclass(frozen=True, slots=True)
class Request:
    """A scene cannot go on without `amount` more questions; `urgent` when they confirm a finding.

    `had` is what it was given so far, `held` what of that it has not spent.
    """

    amount: int
    urgent: bool = False
    had: int = 0
    held: int = 0


class Budget:
    """What one scene may still ask. `Budget(None)` never runs dry. `let_go` is called before it waits."""

    __slots__ = ("left", "let_go", "spent")

    def __init__(self, left: int | None = None) -> None:
        self.left = left
        self.let_go: Callable[[], object] = lambda: None
        self.spent = 0

    def request(self, amount: int, *, urgent: bool) -> Request:
        self.let_go()
        held = self.left or 0
        return Request(self.lacks(amount), urgent, self.spent + held, held)

    def lacks(self, amount: int) -> int:
        return 0 if self.left is None else max(0, amount - self.left)

    def pay(self, amount: int) -> None:
        if self.lacks(amount):
            raise ValueError(f"a budget of {self.left} cannot pay {amount}")
        self.spent += amount
        if self.left is not None:
            self.left -= amount

    def add(self, amount: int) -> None:
        if self.left is not None:
            self.left += amount


def share_out(left: int, requests: Sequence[Request]) -> list[int]:
    """How many of the questions left each of the waiting scenes gets, in scene order.

    All zeros: no scene can go on with what is left.

    >>> share_out(300, [Request(1)] * 64)[:3]
    [2, 2, 2]
    >>> share_out(20, [Request(1), Request(10, urgent=True), Request(1)])
    [2, 10, 2]
    >>> share_out(4, [Request(1, had=2), Request(1, had=2), Request(1)])
    [0, 0, 2]
    """
    grants = [0] * len(requests)
    for i, request in enumerate(requests):
        if request.urgent and request.amount <= left:
            grants[i] = request.amount
            left -= request.amount
    others = [i for i, request in enumerate(requests) if not request.urgent]
    others.sort(key=lambda i: requests[i].had)  # stable: scene order among equals
    if others:
        share = max(LEAST, left // 2 // len(others))
        spendable = max(left // 2, min(left, LEAST))
        for i in others:
            if spendable < min(left, LEAST):
                break
            grants[i] = min(share, spendable)
            spendable -= grants[i]
    return grants


def who_ends(left: int, requests: Sequence[Request]) -> list[int]:
    """Which scenes end when none can go on, so that the others get what these still hold.

    Searches end before any finding goes unconfirmed, and findings of later scenes before earlier ones.

    >>> who_ends(1, [Request(5, urgent=True, held=2)] * 4)
    [2, 3]
    """
    searching = [i for i, request in enumerate(requests) if not request.urgent]
    if searching:
        return searching
    for last in range(len(requests) - 1, 0, -1):
        left += requests[last].held
        if left >= requests[0].amount:
            return [*range(last, len(requests))]
    return [*range(len(requests))]
