"""What classification brings along, by name."""

TITLE = "Classification"
SYSTEMS = {
    "mobilenet-v2": "systems:mobilenet_v2",
    "resnet50": "systems:resnet50",
    "street-classifier": "systems:street_classifier",
}
SUITE = ("mirrored", "brightened", "darkened", "contrast", "blurred", "noise", "jpeg", "rotated", "zoomed")
RELATIONS = {name: f"relations:{name}" for name in SUITE}
ADAPTER = "systems:own"
