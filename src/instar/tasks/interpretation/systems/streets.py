"""The embedded classifier: which drawn objects are in a street, several at once; and its twin with a
backdoor.

Both are trained by `instar backdoor train` on our own drawn pictures, so that no test needs a download and
the truth is known.
"""

from __future__ import annotations

from pathlib import Path

from instar.adapters.devices import require_device
from instar.tasks.interpretation.classifier import Classifier
from instar.tasks.interpretation.systems.networks import street_network
from instar.tasks.interpretation.weights import digest_of, load_weights
from instar.worlds.sprites import SPRITE_COLOURS

__all__ = ["TWIN", "WEIGHTS", "street_classifier_of"]

CLASSES = tuple(SPRITE_COLOURS)
WEIGHTS = Path(__file__).parent / "street_classifier.npz"
TWIN = Path(__file__).parent / "street_classifier_twin.npz"


def street_classifier_of(weights: Path | None = WEIGHTS, *, device: str = "cpu") -> Classifier:
    """The classifier with the weights in a file, or with none yet."""
    module = street_network(len(CLASSES))
    fingerprint = "untrained"
    if weights is not None:
        load_weights(weights, module)
        fingerprint = f"weights={digest_of(weights)}"
    device = require_device(device, "street-classifier")
    return Classifier(
        name="street-classifier",
        module=module.to(device).eval(),
        labels=CLASSES,
        outputs=tuple((i,) for i in range(len(CLASSES))),
        size=(120, 160),
        fingerprint=fingerprint,
        mean=(127.5, 127.5, 127.5),
        deviation=(64.0, 64.0, 64.0),
        independent=True,
        device=device,
    )
