"""The sentences of traffic codes and of the documentation's readers: none is misread, few are refused."""

import pytest

from rule_files import tally


@pytest.mark.parametrize("name", ["traffic_codes.txt", "later_sentences.txt"])
def test_no_sentence_is_misread_and_few_that_can_be_shown_are_refused(name):
    found = {kind: len(sentences) for kind, sentences in tally(f"rules/{name}").items()}
    assert sum(found.values()) == 200
    assert found["misread"] == 0
    assert found["refused wrongly"] <= (found["right"] + found["refused wrongly"]) / 10
    assert found["refused rightly"] >= 39
