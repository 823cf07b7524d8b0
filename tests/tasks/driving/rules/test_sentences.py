"""The sentences of traffic codes and of the documentation's readers: none is misread, few are refused."""

import pytest

from rule_files import tally


@pytest.mark.parametrize(
    ("name", "sentences", "unshown"),
    [
        ("traffic_codes.txt", 200, 39),
        ("later_sentences.txt", 200, 39),
        ("drivers_sentences.txt", 123, 24),
        ("fresh_sentences.txt", 60, 5),
        ("street_sentences.txt", 100, 32),
        ("specification_sentences.txt", 173, 75),
        ("code_sentences.txt", 74, 40),
    ],
)
def test_no_sentence_is_misread_and_few_that_can_be_shown_are_refused(name, sentences, unshown):
    found = {kind: len(read) for kind, read in tally(f"rules/{name}").items()}
    assert sum(found.values()) == sentences
    assert found["misread"] == 0
    assert found["refused wrongly"] <= (found["right"] + found["refused wrongly"]) / 10
    assert found["refused rightly"] >= unshown
