"""Before pictures go to a service that is paid for: how many calls, the price, the host; the user decides."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Sequence
from typing import Any

from instar.campaigns.plan import Plan, Use
from instar.core.campaign import Campaign
from instar.core.case import CASES_PER_NULL
from instar.core.errors import BadInput
from instar.core.relation import Relation
from instar.progress import say

OBJECTS = 4  # that a detector may find in a picture; more is not known before it was asked
DRAWS = 10
BISECTION = 9
STRIKERS = 7  # changes that must do nothing, asked of a picture in which something was found
ITSELF = 2  # a picture is asked as it is, and many are asked once more

Campaigns = Sequence[tuple[Plan, Campaign]]


@dataclasses.dataclass(frozen=True, slots=True)
class Calls:
    """Questions to one picture: its changes alone, where nothing is found, and where each finds something."""

    changes: int
    least: int
    most: int


def count_calls(plan: Plan, relations: Sequence[Relation]) -> Calls:
    """What a picture is asked: itself twice, every change, a change that must do nothing for every ten; and
    for every finding its checks.
    """
    changes = checks = 0
    for relation, pair in zip(relations, plan.relations):
        many = _changes(relation, pair.search or Use("draws"))
        nulls = relation.resolved_task.nulls
        again = 0 if nulls is None else len(nulls.conditions) * (1 + nulls.with_source)
        changes += many
        checks += many * (again + (relation.placebo is not None))
    nulls_asked = -(-changes // CASES_PER_NULL)
    least = ITSELF + changes + nulls_asked
    return Calls(changes, least, least + checks + STRIKERS + 3 * nulls_asked)


def _changes(relation: Relation, search: Use) -> int:
    """How many changes a search tries of a picture at most."""
    given = search.options
    per_object = OBJECTS * int(given.get("per_object", DRAWS))
    draws_any = relation.draw is not None or relation.severity is not None
    if search.name == "listed":
        named = {"perspective": given.get("perspectives", 100), "watermark": given.get("watermarks", 20)}
        return len(relation.ways) or int(named.get(relation.name, given.get("others", 20)))
    known: dict[str, Any] = {
        "draws": given.get("n", DRAWS) if draws_any else 1,
        "sweep": len(given.get("levels") or range(5)),
        "bisect": BISECTION,
        "guided": per_object,
        "random": per_object,
        "relocation": 2 * per_object,
        "distinct": given.get("n", 3),
    }
    if search.name == "adaptive":
        of_draws = given.get("draws", 5) if relation.draw is not None else 1
        return int(given.get("levels", 4) if relation.severity is not None else of_draws)
    return int(known.get(search.name, DRAWS))


def agree(campaigns: Campaigns, *, yes: bool) -> list[tuple[Plan, Campaign]]:
    """Tell what paid services will be asked for, and go on only with --yes or a yes at the terminal.

    What was agreed to is a limit from then on: the campaigns come back with it as their budget.
    """
    told = []
    agreed = []
    for plan, campaign in campaigns:
        host = str(getattr(campaign.system, "sends_to", ""))
        if host and getattr(campaign.system, "paid", False):
            plan, line = _limited(plan, campaign, host)
            told.append(line)
        agreed.append((plan, dataclasses.replace(campaign, limits=plan.limits)))
    if told:
        _ask(told, yes)
    return agreed


def _limited(plan: Plan, campaign: Campaign, host: str) -> tuple[Plan, str]:
    """The plan with a limit of calls, and what to say about it."""
    scenes, most = len(campaign.scenes), plan.limits.queries
    if most is not None:
        many = f"at most {most:,} calls"
    else:
        each = count_calls(plan, [relation for relation, _ in campaign.relations])
        most = scenes * each.most
        many = (
            f"about {scenes * each.least:,} calls, and at most {most:,} ({each.least} a picture: itself, "
            f"{each.changes} changes, some that must do nothing; up to {each.most} where they find something)"
        )
        plan = dataclasses.replace(plan, limits=dataclasses.replace(plan.limits, queries=most))
    price = plan.limits.price_per_query
    cost = (
        f"for at most {most * price:,.2f} at {price:g} a call"
        if price
        else "whose price is not known here (--set limits.price_per_query=0.001 shows the cost)"
    )
    return plan, f"{campaign.system.name} will be asked {many}, {cost}; pictures go to {host}"


def _ask(told: Sequence[str], yes: bool) -> None:
    say("\n".join(told))
    if yes:
        return
    if not (sys.stdin is not None and sys.stdin.isatty() and sys.stderr.isatty()):
        raise BadInput(f"{told[0]}; nothing was sent: say --yes to go on")
    print("Go on? [y/N] ", end="", file=sys.stderr, flush=True)  # noqa: T201
    if input().strip().lower() not in ("y", "yes"):
        raise BadInput("nothing was sent")
