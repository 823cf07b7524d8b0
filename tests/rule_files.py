"""The files of driving rules with the meaning that each must have, and of sentences that must be refused."""

import re
from dataclasses import replace
from pathlib import Path

from instar.tasks.driving.rules import (
    Block,
    Condition,
    Entity,
    Expectation,
    RefusedRule,
    Rule,
    read_rule,
)

HERE = Path(__file__).parent / "tasks" / "driving"


def lines(name):
    text = (HERE / name).read_text(encoding="utf-8")
    return [line for line in text.splitlines() if line.strip() and not line.startswith("#")]


def thing(text):
    """`vehicle{type=car,color=black}` as a name and its properties."""
    name, _, rest = text.partition("{")
    pairs = [pair.split("=") for pair in rest.rstrip("}").split(",") if pair]
    return name.replace("_", " "), {key: value.replace("_", " ") for key, value in pairs}


def condition(text):
    words = re.sub(r"\{[^}]*\}", lambda braces: braces[0].replace(" ", "_"), text).split()
    op, count, element = words.pop(0), words.pop(0), thing(words.pop(0))
    fields = {"count": None if count == "*" else int(count)}
    while words:
        word = words.pop(0)
        if word == ">":
            fields["new"] = Entity(*thing(words.pop(0)))
        elif word.startswith("@"):
            least, dash, most = word[1:].partition("-")
            fields["distance"] = (float(least), float(most) if most else None if dash else float(least))
        elif word.startswith("~"):
            fields["comparative"] = word[1:]
        else:
            fields["position"] = None if word == "from" else word.replace("_", " ")
            fields["reference"], fields["reference_properties"] = thing(words.pop(0))
    return Condition(op, *element, **fields)


def expectation(text):
    words = text.split()
    negated = words[0] == "not"
    quantity, direction, *rest = words[negated:]
    fields = {"negated": negated}
    if "vs" in rest:
        fields["relative_to_block"] = int(rest[rest.index("vs") + 1])
        rest = rest[: rest.index("vs")]
    if rest and not rest[0][0].isdigit():
        fields["comparator"] = rest.pop(0).replace("_", " ")
    if fields.get("comparator") == "between":
        fields["most"] = float(rest.pop(1))
    if rest:
        fields["amount"], fields["unit"] = float(rest[0]), rest[1]
    return Expectation(quantity, direction, **fields)


def meaning(text):
    blocks = []
    for block in text.split(" ; "):
        conditions, _, expected = block.partition(" => ")
        first, *also = map(expectation, expected.split(" + "))
        blocks.append(Block(tuple(condition(c) for c in conditions.split(" & ")), first, tuple(also)))
    return Rule(tuple(blocks))


def accepted(name="accepted.txt"):
    expected = None
    for line in lines(name):
        if line.startswith("= "):
            expected = line[2:]
        else:
            yield line, expected


ACCEPTED = list(accepted())
REFUSED = [tuple(part.strip() for part in line.split("|", 1)) for line in lines("refused.txt")]


def at_least(rule):
    """The rule with "at least" in words wherever an amount stands alone, which means the same."""

    def spelt(one):
        bare = one.amount is not None and one.comparator is None
        return replace(one, comparator="at least") if bare else one

    return Rule(
        tuple(
            replace(block, expectation=spelt(block.expectation), also=tuple(map(spelt, block.also)))
            for block in rule.blocks
        )
    )


def tally(name):
    """How each sentence of a file is read: right, refused rightly, refused wrongly or misread."""
    found = {"right": [], "refused rightly": [], "refused wrongly": [], "misread": []}
    for sentence, expected in accepted(name):
        try:
            got = at_least(read_rule(sentence))
        except RefusedRule as refusal:
            found["refused rightly" if expected == "refused" else "refused wrongly"].append(
                (sentence, refusal)
            )
            continue
        is_right = expected != "refused" and got == at_least(meaning(expected))
        found["right" if is_right else "misread"].append((sentence, got))
    return found
