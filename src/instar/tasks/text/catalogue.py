"""What text localization brings along, by name."""

TITLE = "Text"
SYSTEMS = {
    "page-exact": "systems.page:page_exact",
    "page-glare": "systems.page:page_glare",
    "ppocr-v4-det": "systems.ppocr:ppocr_v4",
    "ppocr-v6-det": "systems.ppocr:ppocr_v6",
    "ppocr-v4": "systems.reader:reader_v4",
    "ppocr-v6": "systems.reader:reader_v6",
    "tesseract": "systems.tesseract:tesseract",
    "craft": "systems.craft:craft",
    "east": "systems.east:east",
    "rekognition": "systems.services.rekognition:rekognition",
    "google-vision": "systems.services.google_vision:google_vision",
    "azure-read": "systems.services.azure_read:azure_read",
    "tencent-ocr": "systems.services.tencent_ocr:tencent_ocr",
}
RELATIONS = {
    "brightness-up": "relations:brightness_up",
    "brightness-down": "relations:brightness_down",
    "channel-switch": "relations:channel_switch",
    "perspective": "relations:perspective",
    "watermark": "relations:watermark",
    "masking": "relations:masking",
}
REFEREES = ("ppocr-v6", "ppocr-v4")
SEARCHES = {"listed": "searches:listed"}
USUAL_SEARCHES = dict.fromkeys(RELATIONS, "listed")
ACCURACY = "accuracy:measure_accuracy"
EXPORTS = {"icdar": "export:export_icdar"}
