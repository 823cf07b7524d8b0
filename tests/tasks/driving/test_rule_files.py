"""Every sentence of accepted.txt has the meaning written above it; every one of refused.txt is refused."""

import pytest

from instar.tasks.driving.rules import RefusedRule, read_rule
from rule_files import ACCEPTED, REFUSED, meaning


def test_there_are_enough_of_both():
    assert len({sentence for sentence, _ in ACCEPTED}) == len(ACCEPTED) >= 600
    assert len({sentence for _, sentence in REFUSED}) == len(REFUSED) >= 250


@pytest.mark.parametrize(("sentence", "expected"), ACCEPTED)
def test_a_sentence_has_its_meaning(sentence, expected):
    assert read_rule(sentence) == meaning(expected)


@pytest.mark.parametrize(("word", "sentence"), REFUSED)
def test_a_sentence_is_refused_for_its_word(word, sentence):
    with pytest.raises(RefusedRule) as refusal:
        read_rule(sentence)
    if word == ".":
        assert (refusal.value.word, refusal.value.column) == ("", len(sentence) + 1)
    else:
        assert refusal.value.word.lower() == word.lower()
        start = refusal.value.column - 1
        assert sentence[start : start + len(word)].lower() == word.lower()
