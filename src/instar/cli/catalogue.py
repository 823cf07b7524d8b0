"""What can be named without a module: plain tables of where each thing is, so that naming imports nothing."""

from __future__ import annotations

__all__ = ["RELATIONS", "SEARCHES", "SYSTEMS", "usual_search"]

SYSTEMS = {
    "yolox-nano": "instar.tasks.detection.systems:yolox",
    "ssd-mobilenet-v2": "instar.tasks.detection.systems:ssd_mobilenet_v2",
    "ssd-mobilenet-v3": "instar.tasks.detection.systems:ssd_mobilenet_v3",
    "efficientdet-lite0": "instar.tasks.detection.systems:efficientdet_lite0",
    "yolov4-tiny": "instar.tasks.detection.systems:yolov4_tiny",
    "onnx": "instar.tasks.detection.systems:onnx_detector",
    "street-exact": "instar.tasks.detection.systems.street:street_exact",
    "street-blobs": "instar.tasks.detection.systems.street:street_blobs",
    "page-exact": "instar.tasks.text.systems.page:page_exact",
    "page-glare": "instar.tasks.text.systems.page:page_glare",
    "ppocr-v4-det": "instar.tasks.text.systems:ppocr_v4",
    "ppocr-v6-det": "instar.tasks.text.systems:ppocr_v6",
    "tesseract": "instar.tasks.text.systems:tesseract",
    "craft": "instar.tasks.text.systems:craft",
    "east": "instar.tasks.text.systems:east",
    "rekognition": "instar.tasks.text.systems.services:rekognition",
    "google-vision": "instar.tasks.text.systems.services:google_vision",
    "azure-read": "instar.tasks.text.systems.services:azure_read",
    "tencent-ocr": "instar.tasks.text.systems.services:tencent_ocr",
    "street-driver": "instar.tasks.driving.systems.street:street_driver",
    "epoch-street": "instar.tasks.driving.systems.committed:epoch_street",
    "vgg16-street": "instar.tasks.driving.systems.committed:vgg16_street",
    "resnet101-street": "instar.tasks.driving.systems.committed:resnet101_street",
    "vgg16-blind": "instar.tasks.driving.systems.committed:vgg16_blind",
    "epoch-ch2": "instar.tasks.driving.systems.committed:epoch_ch2",
    "vgg16-ch2": "instar.tasks.driving.systems.committed:vgg16_ch2",
    "resnet101-ch2": "instar.tasks.driving.systems.committed:resnet101_ch2",
    "deepracer": "instar.tasks.driving.systems.deepracer:deepracer",
    "onnx-driver": "instar.tasks.driving.systems.onnx:onnx_driver",
    "torch-driver": "instar.tasks.driving.systems.torch_network:torch_driver",
    "street-classifier": "instar.tasks.interpretation.systems:street_classifier",
    "street-classifier-twin": "instar.tasks.interpretation.systems:street_classifier_twin",
    "mobilenet-v2": "instar.tasks.interpretation.systems:mobilenet_v2",
    "resnet50": "instar.tasks.interpretation.systems:resnet50",
}
RELATIONS = {
    "insertion": "instar.tasks.detection:insertion",
    "brightness-up": "instar.tasks.text:brightness_up",
    "brightness-down": "instar.tasks.text:brightness_down",
    "channel-switch": "instar.tasks.text:channel_switch",
    "perspective": "instar.tasks.text:perspective",
    "watermark": "instar.tasks.text:watermark",
    "masking": "instar.tasks.text:masking",
    "rule": "instar.tasks.driving.relations:rule",
    "deeptest": "instar.tasks.driving.deeptest:deeptest",
    "insert": "instar.tasks.interpretation:insert",
    "delete": "instar.tasks.interpretation:delete",
    "delete-same": "instar.tasks.interpretation:delete_same",
    "squeeze": "instar.tasks.interpretation:squeeze",
    "truth": "instar.tasks.interpretation:truth",
}
SEARCHES = {
    "guided": "instar.tasks.detection:guided",
    "random": "instar.tasks.detection:random",
    "relocation": "instar.tasks.detection:relocation",
    "adaptive": "instar.tasks.detection:adaptive",
    "listed": "instar.tasks.text:listed",
    "distinct": "instar.tasks.interpretation:distinct",
    "draws": "instar.core.search:draws",
    "sweep": "instar.core.search:sweep",
    "bisect": "instar.core.search:bisect",
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
