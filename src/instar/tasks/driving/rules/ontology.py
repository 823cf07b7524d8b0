"""The elements of a street scene, their properties and the words for them, read from a file."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from instar.core.errors import BadInput, UnknownName
from instar.user_file import load_resource, read_user_file

CATEGORIES = ("road network", "object", "environment")
REFERENCES = ("road", "scene", "ego-vehicle")
LISTS = ("heads", "kinds", "unlike", "classes")
KEYS = ("category", "synonyms", *LISTS, "person", "usual", "named", "property")


@dataclass(frozen=True, slots=True)
class PropertyValue:
    """A value of a property and the words that say it; `nouns` name the element with it."""

    adjectives: tuple[str, ...]
    nouns: tuple[str, ...] = ()
    verbs: tuple[str, ...] = ()
    adverbs: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Element:
    """Something a scene can have: its words, its properties by name and value, its label-map classes."""

    name: str
    category: str
    synonyms: tuple[str, ...]
    heads: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    unlike: tuple[str, ...] = ()
    classes: tuple[str, ...] = ()
    person: bool = False
    usual: Mapping[str, str] = field(default_factory=dict)
    named: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    properties: Mapping[str, Mapping[str, PropertyValue]] = field(default_factory=dict)

    @property
    def is_environment(self) -> bool:
        return self.category == "environment"

    def said_by(self, adjective: str) -> tuple[str, str] | None:
        """The property and the value that this adjective gives the element, if it can have it.

        >>> usual_ontology().elements["line"].said_by("dashed")
        ('type', 'dash')
        """
        return next(((name, v) for name, v, words in self.values() if adjective in words.adjectives), None)

    def values(self) -> Iterator[tuple[str, str, PropertyValue]]:
        """Each property with each of its values and the words for it."""
        for name, values in self.properties.items():
            yield from ((name, value, words) for value, words in values.items())


@dataclass(frozen=True, slots=True)
class Ontology:
    """All elements, and the words for the road, the scene and the ego-vehicle."""

    elements: Mapping[str, Element]
    references: Mapping[str, tuple[str, ...]]


@cache
def usual_ontology() -> Ontology:
    """The ontology that comes with instar (Table 3 of the paper)."""
    return _ontology(_usual_tables())


def read_ontology(path: Path) -> Ontology:
    """Instar's ontology with what a user's file adds to it or changes.

    Lists of words are added to, everything else takes the place of what was there. Whatever is wrong with the
    file is said in one line.
    """
    return read_user_file(path, "ontology", lambda own: _ontology(_laid_over(_usual_tables(), own)))


def _usual_tables() -> Mapping[str, Any]:
    return load_resource("instar.tasks.driving.rules", "ontology.toml")


def _laid_over(usual: Any, own: Any) -> Any:
    if isinstance(usual, Mapping) and isinstance(own, Mapping):
        return {**usual, **{key: _laid_over(usual.get(key), value) for key, value in own.items()}}
    if isinstance(usual, list) and isinstance(own, list):
        return [*usual, *(word for word in own if word not in usual)]
    return own


def _ontology(tables: Mapping[str, Any]) -> Ontology:
    _only("table", tables, ("element", "reference"))
    references = _table("reference", tables.get("reference", {}))
    _only("reference", references, REFERENCES)
    entries = _table("element", tables.get("element", {}))
    elements = {name: _element(name, _table(name, entry)) for name, entry in entries.items()}
    _require_one_meaning(elements.values())
    return Ontology(
        elements,
        {name: _reference(name, _table(name, entry)) for name, entry in references.items()},
    )


def _require_one_meaning(elements: Collection[Element]) -> None:
    for element in elements:
        for other in elements:
            if other is element:
                continue
            nouns = (noun for _, _, words in other.values() for noun in words.nouns)
            taken = {*other.synonyms, *other.named, *nouns}
            for word in taken.intersection(element.synonyms):
                raise BadInput(f"{word!r} of {element.name!r} already says {other.name!r}; use another word")


def _reference(name: str, entry: Mapping[str, Any]) -> tuple[str, ...]:
    _only(f"key of {name}", entry, ("synonyms",))
    return _phrases(name, "synonyms", entry.get("synonyms", [name]))


def _element(name: str, entry: Mapping[str, Any]) -> Element:
    _only(f"key of {name}", entry, KEYS)
    category = entry.get("category", "object")
    _only("category", [category], CATEGORIES)
    properties = {
        prop: {
            value: _value(name, value, _table(value, words)) for value, words in _table(prop, values).items()
        }
        for prop, values in _table("property", entry.get("property", {})).items()
    }
    usual = _table("usual", entry.get("usual", {}))
    named = {word: _table(word, said) for word, said in _table("named", entry.get("named", {})).items()}
    for said in (usual, *named.values()):
        for prop, value in said.items():
            _only(f"property of {name}", [prop], properties)
            _only(f"{prop} of {name}", [value], properties[prop])
    return Element(
        name,
        category,
        _phrases(name, "synonyms", entry.get("synonyms", [name])),
        person=bool(entry.get("person", False)),
        usual=usual,
        named=named,
        properties=properties,
        **{key: _phrases(name, key, entry.get(key, [])) for key in LISTS},
    )


def _value(element: str, value: str, entry: Mapping[str, Any]) -> PropertyValue:
    _only(f"key of {element} {value}", entry, ("adjectives", "nouns", "verbs", "adverbs", "kinds"))
    lists = {key: _phrases(f"{element} {value}", key, words) for key, words in entry.items()}
    if lists.get("adjectives") != () and not value.isdigit():  # "10 signs" are ten of them
        # A value can be said by its own name unless the file says that it has no adjectives at all.
        lists["adjectives"] = tuple(dict.fromkeys((*lists.get("adjectives", ()), value)))
    return PropertyValue(**lists)


def _table(name: str, entry: Any) -> Mapping[str, Any]:
    if not isinstance(entry, Mapping):
        raise BadInput(f"{name!r} must be a table, not {entry!r}")
    if not all(map(_plain, entry)):
        raise BadInput(f"{name!r} has a name of spaces or hyphens alone")
    return entry


def _phrases(owner: str, key: str, phrases: Any) -> tuple[str, ...]:
    if not isinstance(phrases, list) or not all(isinstance(p, str) and _plain(p) for p in phrases):
        raise BadInput(f"{key} of {owner!r} must be a list of words, not {phrases!r}")
    return tuple(map(_plain, phrases))


def _plain(phrase: str) -> str:
    return " ".join(phrase.lower().replace("-", " ").split())


def _only(what: str, given: Iterable[str], known: Iterable[str]) -> None:
    known = tuple(known)
    for name in given:
        if name not in known:
            raise UnknownName(what, str(name), known)
