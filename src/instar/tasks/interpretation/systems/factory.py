"""From the options of a system to the system: its classifier, its twin's weights where asked for, an
interpreter.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from instar.adapters.classifier import Classifier
from instar.adapters.own_classifier import own_classifier
from instar.adapters.street_classifier import TWIN, load_street_classifier
from instar.adapters.weights import hash_file, load_weights
from instar.adapters.zoo_classifiers import zoo_classifier
from instar.tasks.interpretation.systems.explained import Explained
from instar.tasks.interpretation.trigger import Trigger

__all__ = ["make_explained"]

ASKED = ("interpreter", "layer", "samples", "threads", "batch")


def make_explained(name: str, options: dict[str, Any], recipe: Callable[[], Explained] | None) -> Explained:
    """The system of that name with these options."""
    asked = {key: options.pop(key) for key in ASKED}
    twin = options.pop("twin")
    classifier = _classifier(name, options)
    trigger = None
    if twin is not None:
        path = TWIN if (name, twin) == ("street-classifier", "embedded") else Path(os.path.abspath(twin))
        about = load_weights(path, classifier.module)
        trigger = Trigger(about["target"], about["share"])
        classifier.index(trigger.target)
        fingerprint = f"{classifier.fingerprint} twin={hash_file(path)}"
        classifier = replace(classifier, name=f"{name}-twin", fingerprint=fingerprint)
    return Explained(classifier, asked.pop("interpreter"), trigger=trigger, recipe=recipe, **asked)


def _classifier(name: str, options: dict[str, Any]) -> Classifier:
    if name == "street-classifier":
        return load_street_classifier(**options)
    if "network" in options:
        return zoo_classifier(**options)
    return own_classifier(**options)
