"""Text services of the large clouds: asked over HTTPS, or played back from a folder of recorded answers."""

from __future__ import annotations

from instar.tasks.text.systems.services.azure_read import azure_read
from instar.tasks.text.systems.services.google_vision import google_vision
from instar.tasks.text.systems.services.rekognition import rekognition
from instar.tasks.text.systems.services.service import Service
from instar.tasks.text.systems.services.tencent_ocr import tencent_ocr

__all__ = ["Service", "azure_read", "google_vision", "rekognition", "tencent_ocr"]
