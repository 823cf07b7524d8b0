"""What classification brings along, by name."""

TITLE = "Classification"
SYSTEMS = {
    "mobilenet-v2": "systems:mobilenet_v2",
    "resnet50": "systems:resnet50",
    "street-classifier": "systems:street_classifier",
    "onnx-classifier": "onnx:onnx_classifier",
}
FILES = {".onnx": "onnx-classifier"}
DESCRIBE_FILE = "onnx:describe_file"
SUITE = (
    "mirrored", "cropped", "reduced", "brightened", "darkened", "warmed", "cooled", "flattened", "defocused",
    "shaken", "noisy", "compressed", "rotated",
)  # fmt: skip
RELATIONS = {name: f"relations:RELATIONS.{name}" for name in SUITE}
ADAPTER = "systems:own"
