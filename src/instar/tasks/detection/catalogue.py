"""What object detection brings along, by name."""

TITLE = "Object detection"
SYSTEMS = {
    "yolox-nano": "systems.onnx:yolox",
    "yolox-nano-torch": "systems.onnx:yolox_torch",
    "ssd-mobilenet-v2": "systems.opencv:ssd_mobilenet_v2",
    "ssd-mobilenet-v3": "systems.opencv:ssd_mobilenet_v3",
    "efficientdet-lite0": "systems.efficientdet:efficientdet_lite0",
    "efficientdet-lite1": "systems.efficientdet:efficientdet_lite1",
    "efficientdet-lite2": "systems.efficientdet:efficientdet_lite2",
    "yolov4-tiny": "systems.opencv:yolov4_tiny",
    "onnx": "systems.onnx:onnx_detector",
    "torch-detector": "systems.onnx:onnx_detector",
    "rekognition-labels": "systems.services.rekognition_labels:rekognition_labels",
    "google-objects": "systems.services.google_objects:google_objects",
    "azure-objects": "systems.services.azure_objects:azure_objects",
    "street-exact": "systems.street:street_exact",
    "street-blobs": "systems.street:street_blobs",
}
FILES = dict.fromkeys((".onnx", ".xml"), "onnx")
FILES |= dict.fromkeys((".pt", ".pth", ".torchscript"), "torch-detector")
DESCRIBE_FILE = "systems.network_file:describe_file"
WHOLE_PICTURE = (
    "mirrored", "shifted", "cropped", "reduced", "brightened", "darkened", "warmed", "cooled", "flattened",
    "defocused", "shaken", "noisy", "compressed", "hazy", "rainy",
)  # fmt: skip
RELATIONS = {name: f"relations.whole_picture:RELATIONS.{name}" for name in WHOLE_PICTURE} | {
    "insertion": "relations.insertion:insertion",
    "copy": "relations.copied_object:copy",
    "removal": "relations.removed_object:removal",
}
SUITE = (*WHOLE_PICTURE, "insertion", "copy", "removal")
SUITE_SEARCH = "adaptive"
REFEREES = (
    "efficientdet-lite2", "efficientdet-lite1", "ssd-mobilenet-v2", "yolov4-tiny", "yolox-nano",
    "efficientdet-lite0",
)  # fmt: skip
SEARCHES = {
    "guided": "searches:guided",
    "random": "searches:random",
    "relocation": "searches:relocation",
}
USUAL_SEARCHES = {"insertion": "guided"}
ACCURACY = "accuracy:measure_accuracy"
POOL = "pool:pool_from_scenes"
EXPORTS = {"coco": "export:export_coco", "yolo": "export:export_yolo", "fiftyone": "export:export_fiftyone"}
