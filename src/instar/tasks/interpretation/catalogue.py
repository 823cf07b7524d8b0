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
    "insert": "relations.paper:insert",
    "delete": "relations.paper:delete",
    "delete-same": "relations.paper:delete_same",
    "squeeze": "relations.paper:squeeze",
    "mirrored": "relations.moves:mirrored",
    "shifted": "relations.moves:shifted",
    "zoomed": "relations.moves:zoomed",
    "padded": "relations.moves:padded",
    "another-class": "relations.reactions:another_class",
    "another-picture": "relations.reactions:another_picture",
    "random-weights": "relations.reactions:random_weights",
    "covered": "relations.cover:covered",
    "truth": "relations.paper:truth",
}
SUITE = (
    "insert", "delete", "squeeze", "mirrored", "shifted", "zoomed", "padded", "another-class",
    "another-picture", "random-weights", "covered",
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
