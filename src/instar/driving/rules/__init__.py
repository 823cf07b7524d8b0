"""Rules in plain English: "If: a pedestrian appears on the roadside, Then: slow down."."""

from instar.driving.rules.model import Block, Condition, Expectation, Rule, Thing
from instar.driving.rules.ontology import Ontology, read_ontology, usual_ontology
from instar.driving.rules.reading import Language, read_rule
from instar.driving.rules.refusal import RefusedRule
from instar.driving.rules.saying import say

__all__ = [
    "Block",
    "Condition",
    "Expectation",
    "Language",
    "Ontology",
    "RefusedRule",
    "Rule",
    "Thing",
    "read_ontology",
    "read_rule",
    "say",
    "usual_ontology",
]
