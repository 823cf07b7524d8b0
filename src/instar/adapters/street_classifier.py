"""The embedded classifier: which drawn objects are in a street, several at once; and its twin with a
backdoor.

Both are trained by `instar backdoor train` on our own drawn pictures, so that no test needs a download and
the truth is known.
"""

from __future__ import annotations

from pathlib import Path

from instar.adapters.classifier import Classifier
from instar.adapters.devices import require_device
from instar.adapters.networks import street_network
from instar.adapters.picture_system import hash_files
from instar.adapters.weights import load_weights

LABELS = ("person", "car", "bus", "truck", "bicycle", "dog", "traffic light", "stop sign")
STREET_WEIGHTS = Path(__file__).parent / "street_classifier.npz"
TWIN = Path(__file__).parent / "street_classifier_twin.npz"


def load_street_classifier(weights: Path | None = STREET_WEIGHTS, *, device: str = "cpu") -> Classifier:
    """The classifier with the weights in a file, or with none yet."""
    module = street_network(len(LABELS))
    fingerprint = "untrained"
    if weights is not None:
        load_weights(weights, module)
        fingerprint = f"weights={hash_files(weights)}"
    device = require_device(device, "street-classifier")
    return Classifier(
        name="street-classifier",
        module=module.to(device).eval(),
        labels=LABELS,
        outputs=tuple((i,) for i in range(len(LABELS))),
        size=(120, 160),
        fingerprint=fingerprint,
        mean=(127.5, 127.5, 127.5),
        deviation=(64.0, 64.0, 64.0),
        independent=True,
        device=device,
    )
