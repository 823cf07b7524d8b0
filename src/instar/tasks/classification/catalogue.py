"""What classification brings along, by name."""

TITLE = "Classification"
SYSTEMS = {
    "mobilenet-v2": "systems:mobilenet_v2",
    "resnet50": "systems:resnet50",
    "street-classifier": "systems:street_classifier",
}
RELATIONS = {
    name: f"relations:{name}"
    for name in (
        "mirrored",
        "brightened",
        "darkened",
        "contrast",
        "blurred",
        "noise",
        "jpeg",
        "rotated",
        "zoomed",
    )
}
ADAPTER = "systems:own"
