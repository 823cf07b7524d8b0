"""What object detection brings along, by name."""

TITLE = "Object detection"
SYSTEMS = {
    "yolox-nano": "systems.onnx:yolox",
    "ssd-mobilenet-v2": "systems.opencv:ssd_mobilenet_v2",
    "ssd-mobilenet-v3": "systems.opencv:ssd_mobilenet_v3",
    "efficientdet-lite0": "systems.efficientdet:efficientdet_lite0",
    "efficientdet-lite1": "systems.efficientdet:efficientdet_lite1",
    "efficientdet-lite2": "systems.efficientdet:efficientdet_lite2",
    "yolov4-tiny": "systems.opencv:yolov4_tiny",
    "onnx": "systems.onnx:onnx_detector",
    "street-exact": "systems.street:street_exact",
    "street-blobs": "systems.street:street_blobs",
}
RELATIONS = {"insertion": "relations.insertion:insertion"}
SEARCHES = {
    "guided": "searches:guided",
    "random": "searches:random",
    "relocation": "searches:relocation",
    "adaptive": "adaptive_search:adaptive",
}
USUAL_SEARCHES = {"insertion": "guided"}
ACCURACY = "accuracy:measure_accuracy"
EXPORTS = {"coco": "export:export_coco", "yolo": "export:export_yolo"}
