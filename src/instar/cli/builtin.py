"""What can be named without a module: plain tables of where each thing is, so that naming imports nothing."""

from __future__ import annotations

__all__ = ["RELATIONS", "SEARCHES", "SYSTEMS", "usual_search"]

SYSTEMS = {
    "yolox-nano": "instar.detection.systems:yolox",
    "ssd-mobilenet-v2": "instar.detection.systems:ssd_mobilenet_v2",
    "ssd-mobilenet-v3": "instar.detection.systems:ssd_mobilenet_v3",
    "efficientdet-lite0": "instar.detection.systems:efficientdet_lite0",
    "yolov4-tiny": "instar.detection.systems:yolov4_tiny",
    "onnx": "instar.detection.systems:onnx_detector",
    "street-exact": "instar.detection.systems.street:street_exact",
    "street-blobs": "instar.detection.systems.street:street_blobs",
    "page-exact": "instar.text.systems.page:page_exact",
    "page-glare": "instar.text.systems.page:page_glare",
    "ppocr-v4-det": "instar.text.systems:ppocr_v4",
    "ppocr-v6-det": "instar.text.systems:ppocr_v6",
    "tesseract": "instar.text.systems:tesseract",
    "craft": "instar.text.systems:craft",
    "east": "instar.text.systems:east",
    "rekognition": "instar.text.systems.services:rekognition",
    "google-vision": "instar.text.systems.services:google_vision",
    "azure-read": "instar.text.systems.services:azure_read",
    "tencent-ocr": "instar.text.systems.services:tencent_ocr",
    "street-driver": "instar.driving.systems.street:street_driver",
    "epoch-street": "instar.driving.systems.committed:epoch_street",
    "vgg16-street": "instar.driving.systems.committed:vgg16_street",
    "resnet101-street": "instar.driving.systems.committed:resnet101_street",
    "vgg16-blind": "instar.driving.systems.committed:vgg16_blind",
    "epoch-ch2": "instar.driving.systems.committed:epoch_ch2",
    "vgg16-ch2": "instar.driving.systems.committed:vgg16_ch2",
    "resnet101-ch2": "instar.driving.systems.committed:resnet101_ch2",
    "deepracer": "instar.driving.systems.deepracer:deepracer",
    "onnx-driver": "instar.driving.systems.onnx:onnx_driver",
    "torch-driver": "instar.driving.systems.torch_network:torch_driver",
    "street-classifier": "instar.interpretation.systems:street_classifier",
    "street-classifier-twin": "instar.interpretation.systems:street_classifier_twin",
    "mobilenet-v2": "instar.interpretation.systems:mobilenet_v2",
    "resnet50": "instar.interpretation.systems:resnet50",
}
RELATIONS = {
    "insertion": "instar.detection:insertion",
    "brightness-up": "instar.text:brightness_up",
    "brightness-down": "instar.text:brightness_down",
    "channel-switch": "instar.text:channel_switch",
    "perspective": "instar.text:perspective",
    "watermark": "instar.text:watermark",
    "masking": "instar.text:masking",
    "rule": "instar.driving.relation:rule",
    "deeptest": "instar.driving.affine:deeptest",
    "insert": "instar.interpretation:insert",
    "delete": "instar.interpretation:delete",
    "delete-same": "instar.interpretation:delete_same",
    "squeeze": "instar.interpretation:squeeze",
    "truth": "instar.interpretation:truth",
}
SEARCHES = {
    "guided": "instar.detection:guided",
    "random": "instar.detection:random",
    "relocation": "instar.detection:relocation",
    "adaptive": "instar.detection:adaptive",
    "listed": "instar.text:listed",
    "distinct": "instar.interpretation:distinct",
    "draws": "instar.search:draws",
    "sweep": "instar.search:sweep",
    "bisect": "instar.search:bisect",
}
USUAL_SEARCH = {
    "insertion": "guided",
    "brightness-up": "listed",
    "brightness-down": "listed",
    "channel-switch": "listed",
    "perspective": "listed",
    "watermark": "listed",
    "masking": "listed",
    "insert": "distinct",
    "delete": "distinct",
    "delete-same": "distinct",
    "squeeze": "distinct",
    "truth": "distinct",
}


def usual_search(relation: str) -> str:
    """The search of a relation for which none was given."""
    return USUAL_SEARCH.get(relation, "draws")
