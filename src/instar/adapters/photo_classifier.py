"""The classifier of photographs: twenty kinds of things, several at once.

MobileNetV2 out of the zoo, with a last layer that was fitted by `instar.training.interpretation` to
photographs with several labels and comes along, in half precision (see photo_classifier.md).
"""

from __future__ import annotations

from pathlib import Path

from torch import nn

from instar.adapters.classifier import Classifier
from instar.adapters.devices import require_device
from instar.adapters.picture_system import hash_files
from instar.adapters.weights import load_weights
from instar.adapters.zoo_classifiers import zoo_classifier
from instar.core.options import require_one_of

NAMES = {
    "voc": ("aeroplane", "bicycle", "bird", "boat", "bottle", "bus", "car", "cat", "chair", "cow",
            "diningtable", "dog", "horse", "motorbike", "person", "pottedplant", "sheep", "sofa", "train",
            "tvmonitor"),
    "coco": ("airplane", "bicycle", "bird", "boat", "bottle", "bus", "car", "cat", "chair", "cow",
             "dining table", "dog", "horse", "motorcycle", "person", "potted plant", "sheep", "couch",
             "train", "tv"),
}  # fmt: skip
"""The twenty classes, as VOC and as COCO call them."""
WEIGHTS = Path(__file__).parent / "photo_classifier.npz"


def load_photo_classifier(
    weights: Path | None = WEIGHTS, *, classes: str = "coco", device: str = "cpu"
) -> Classifier:
    """The classifier with the weights of its last layer in a file, or with none yet."""
    require_one_of("photo-classifier", "classes", classes, tuple(NAMES))
    labels = NAMES[classes]
    base = zoo_classifier("mobilenet-v2")
    module = base.module
    module[-1] = nn.Linear(module[-1].in_features, len(labels))
    fingerprint = "untrained"
    if weights is not None:
        load_weights(weights, module[-1])
        fingerprint = f"weights={hash_files(weights)}"
    device = require_device(device, "photo-classifier")
    return Classifier(
        name="photo-classifier",
        module=module.to(device).eval(),
        labels=labels,
        outputs=tuple((i,) for i in range(len(labels))),
        size=base.size,
        fingerprint=f"{base.fingerprint} {fingerprint} names={classes}",
        independent=True,
        device=device,
    )
