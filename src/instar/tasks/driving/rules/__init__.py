"""Rules in plain English: "If: a pedestrian appears on the roadside, Then: slow down."."""

from instar.tasks.driving.rules.format_rule import format_rule
from instar.tasks.driving.rules.model import Block, Condition, Entity, Expectation, Rule
from instar.tasks.driving.rules.ontology import Ontology, read_ontology, usual_ontology
from instar.tasks.driving.rules.read import Language, open_language, read_rule
from instar.tasks.driving.rules.words import RefusedRule

__all__ = [
    "Block",
    "Condition",
    "Entity",
    "Expectation",
    "Language",
    "Ontology",
    "RefusedRule",
    "Rule",
    "format_rule",
    "open_language",
    "read_ontology",
    "read_rule",
    "usual_ontology",
]
