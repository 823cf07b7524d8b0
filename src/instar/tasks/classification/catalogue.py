"""What classification brings along, by name."""

TITLE = "Classification"
SYSTEMS = {"mobilenet-v2": "systems:mobilenet_v2", "resnet50": "systems:resnet50"}
RELATIONS = {"mirrored": "relations:mirrored"}
