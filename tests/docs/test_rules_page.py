"""docs/rules.md: every rule on it is read or refused as it says, and every console example is true."""

import re
import shlex
from pathlib import Path

import pytest

from instar.cli import main
from instar.tasks.driving.judgement import judge_rule
from instar.tasks.driving.rules import RefusedRule, read_rule

PAGE = (Path(__file__).parents[2] / "docs" / "rules.md").read_text(encoding="utf-8")


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)


def lines(language):
    return [line for block in blocks(language) for line in block.splitlines()]


@pytest.mark.parametrize("sentence", lines("rules"))
def test_rules_are_read(sentence):
    assert read_rule(sentence).blocks


@pytest.mark.parametrize("line", lines("refused"))
def test_refused_rules_are_refused_for_their_word(line):
    word, sentence = line.split(" | ")
    with pytest.raises(RefusedRule) as refusal:
        read_rule(sentence)
    assert refusal.value.word == word


@pytest.mark.parametrize("block", blocks("console"))
def test_console_examples_are_true(block, capsys):
    command, _, shown = block.partition("\n")
    main(shlex.split(command.removeprefix("$ instar ")))
    out, err = capsys.readouterr()
    assert (out + err).strip() == shown.strip()


def test_the_python_example_runs():
    (block,) = blocks("python")
    exec(compile(block, "rules.md", "exec"), {})


EXPECTATIONS = PAGE.partition("## Expectations")[2].partition("## What is refused")[0]
TABLE = re.findall(r"^\| (.*) \| (.*) \|$", EXPECTATIONS, re.MULTILINE)[1:]
SENTENCE = "If: a pedestrian appears on the roadside, Then: {}. If: it rains, Then: {}."


def test_the_table_was_found():
    assert len(TABLE) == 24


@pytest.mark.parametrize("said", [said for said, _ in TABLE])
def test_every_first_phrase_of_the_table_is_read(said):
    is_later = "(in a later block)" in said
    phrase = said.split(" (in a later block)")[0].split(", ")[0]
    phrase = f"the ego-vehicle {phrase}" if phrase.startswith("should") else phrase
    then = ("slow down", phrase) if is_later else (phrase, "slow down")
    rule = read_rule(SENTENCE.format(*then))
    assert judge_rule(rule, [50.0, 45.0, 40.0]).held in (True, False)
