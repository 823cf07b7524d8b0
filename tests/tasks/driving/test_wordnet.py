"""WordNet's nouns: what is a kind of what, how similar, and how the table is made."""

import pytest

from instar.tasks.driving.rules import RefusedRule, read_rule
from instar.tasks.driving.rules.wordnet import make_wordnet_table, read_table, wordnet

# Four senses of a tiny WordNet: entity > car > taxi, and a second sense of "taxi" that is nobody's first.
DATA = """  1 a licence that is indented
00000001 03 n 01 entity 0 000 | all there is
00000002 06 n 02 car 0 auto 0 001 @ 00000001 n 0000 | a motor vehicle
00000003 06 n 01 taxi 0 002 @ 00000002 n 0000 ~ 00000001 n 0000 | a car for hire
00000004 06 n 01 taxi 1 001 @ 00000001 n 0000 | something else
"""
INDEX = """  1 a licence that is indented
auto n 1 1 @ 1 1 00000002
car n 1 1 @ 1 1 00000002
entity n 1 1 ~ 1 1 00000001
taxi n 2 1 @ 2 1 00000003 00000004
"""


@pytest.mark.parametrize(
    ("noun", "kind", "steps"),
    [
        ("ambulance", "car", 1),
        ("fire engine", "truck", 1),
        ("policemen", "person", 4),
        ("nurses", "person", 4),
        ("car", "car", 0),
        ("dog", "person", None),
        ("banana", "tree", None),
        ("bridge", "building", None),
        ("helicopter", "wheeled vehicle", None),
        ("no such noun", "car", None),
    ],
)
def test_a_noun_is_a_kind_of_what_stands_above_its_first_sense(noun, kind, steps):
    assert wordnet().steps_up(noun, kind) == steps


def test_similarity_is_that_of_nltk():
    assert wordnet().similarity("person", "pedestrian") == 0.75
    assert wordnet().similarity("person", "person") == 1.0
    assert wordnet().similarity("no such noun", "person") == 0.0


def test_the_table_is_made_from_the_files_of_wordnet(tmp_path):
    (tmp_path / "data.noun").write_text(DATA, encoding="utf-8")
    (tmp_path / "index.noun").write_text(INDEX, encoding="utf-8")
    made = read_table(make_wordnet_table(tmp_path))
    assert made.senses == {"entity": 0, "auto": 1, "car": 1, "taxi": 2}
    assert made.parents == ((), (0,), (1,))
    assert made.steps_up("taxis", "entity") == 2


def test_what_is_only_similar_is_suggested_and_refused():
    with pytest.raises(RefusedRule) as refusal:
        read_rule("If: a banana appears on the road, Then: slow down.")
    assert "tree" in refusal.value.suggestions


def test_a_kind_keeps_its_text_and_column_when_it_is_refused():
    with pytest.raises(RefusedRule) as refusal:
        read_rule("If: the rain is replaced with an ambulance, Then: slow down.")
    assert (refusal.value.word, refusal.value.column) == ("an", 31)
