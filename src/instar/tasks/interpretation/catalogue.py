"""What explanations bring along, by name."""

TITLE = "Explanations"
SYSTEMS = {
    "street-classifier": "systems:street_classifier",
    "street-classifier-twin": "systems:street_classifier_twin",
    "photo-classifier": "systems:photo_classifier",
    "mobilenet-v2": "systems:mobilenet_v2",
    "resnet50": "systems:resnet50",
}
RELATIONS = {
    "insert": "relations:insert",
    "delete": "relations:delete",
    "delete-same": "relations:delete_same",
    "squeeze": "relations:squeeze",
    "mirrored": "relations:mirrored",
    "shifted": "relations:shifted",
    "zoomed": "relations:zoomed",
    "another-class": "relations:another_class",
    "another-picture": "relations:another_picture",
    "random-weights": "relations:random_weights",
    "covered": "relations:covered",
    "truth": "relations:truth",
}
SUITE = (
    "insert", "delete", "squeeze", "mirrored", "shifted", "zoomed", "another-class", "another-picture",
    "random-weights", "covered",
)  # fmt: skip
SEARCHES = {"distinct": "searches:distinct"}
USUAL_SEARCHES = dict.fromkeys(RELATIONS, "distinct")
ADAPTER = "systems:own"
INTERPRETERS = (
    "deconvnet",
    "guided-backprop",
    "linear-approximation",
    "excitation-backprop",
    "grad-cam",
    "rise",
    "lime",
    "integrated-gradients",
    "smoothgrad",
)
