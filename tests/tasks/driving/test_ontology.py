"""The ontology is the paper's Table 3, and a user's file is checked key by key."""

import pytest

from instar.core.errors import BadInput
from instar.tasks.driving.rules import Language, read_ontology, read_rule, usual_ontology

REFERENCES = """
[reference.road]
[reference.scene]
[reference.ego-vehicle]
synonyms = ["ego-vehicle"]
"""


def test_the_elements_are_those_of_the_paper_and_some_more():
    assert list(usual_ontology().elements) == [
        "lane", "line", "crosswalk", "sidewalk", "traffic sign", "traffic light", "stop line", "tree",
        "building", "pedestrian", "vehicle", "bicyclist", "motorcyclist", "animal", "road surface", "weather",
        "time",
    ]  # fmt: skip


def test_the_properties_are_those_of_the_paper():
    elements = usual_ontology().elements
    values = {
        f"{element}.{name}": list(values)
        for element in elements
        for name, values in elements[element].properties.items()
    }
    assert values["traffic sign.type"] == ["stop", "speed limit", "turn", "yield", "crossing", "priority"]
    assert values["traffic sign.shape"] == ["circle", "square"]
    assert values["traffic light.color"] == ["red", "yellow", "green"]
    assert values["line.type"] == ["solid", "dash"]
    assert values["line.color"] == ["white", "yellow"]
    assert values["vehicle.type"] == ["car", "truck", "van", "bus"]
    assert values["weather.level"] == ["light", "normal", "heavy"]
    assert values["time.type"] == ["day", "dusk", "night"]


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ("[elemnt.dog]", "unknown table 'elemnt'; did you mean 'element'?"),
        ("[element.dog]\nsinonyms = []", "unknown key of dog 'sinonyms'; did you mean 'synonyms'?"),
        ("[element.dog]\ncategory = 'objects'", "unknown category 'objects'; did you mean 'object'"),
        ("[element.dog]\nsynonyms = 'dog'", "synonyms of 'dog' must be a list of words, not 'dog'"),
        ("[element.dog.property.size]\nbig = {adjectves = []}", "unknown key of dog big 'adjectves'"),
        ("[element.dog]\nusual = {size = 'big'}", "unknown property of dog 'size'"),
        ("[element.dog]\nnamed = {puppy = {size = 'small'}}", "unknown property of dog 'size'"),
        ("[element.ball]\nsynonyms = ['car']", "'car' of 'ball' already says 'vehicle'; use another word"),
        ("element = 3", "'element' must be a table, not 3"),
        ("[element.dog", "is not TOML"),
    ],
)
def test_what_is_wrong_with_a_file_is_said_in_one_line(tmp_path, table, message):
    own = tmp_path / "mine.toml"
    own.write_text(f"{table}\n{REFERENCES}", encoding="utf-8")
    with pytest.raises(BadInput) as error:
        read_ontology(own)
    assert message in str(error.value)
    assert "mine.toml" in str(error.value)


def test_a_file_adds_elements_and_words_and_changes_what_is_there(tmp_path):
    own = tmp_path / "mine.toml"
    own.write_text(
        '[element.ghost]\n[element.tree]\nsynonyms = ["shrub"]\nclasses = ["bush"]\n', encoding="utf-8"
    )
    ontology = read_ontology(own)
    assert ontology.elements["tree"].classes == ("vegetation", "bush")
    for text, element in (("three ghosts", "ghost"), ("three shrubs", "tree"), ("three men", "pedestrian")):
        rule = read_rule(f"If: {text} appear on the roadside, Then: slow down.", language=Language(ontology))
        condition = rule.blocks[0].conditions[0]
        assert (condition.element, condition.count) == (element, 3)
    with pytest.raises(BadInput, match="'ghosts' is not known"):
        read_rule("If: three ghosts appear on the roadside, Then: slow down.")
