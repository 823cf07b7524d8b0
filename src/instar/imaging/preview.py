"""Pictures for pages: scaled down, as small files."""

from __future__ import annotations

import cv2
import numpy as np
import numpy.typing as npt

from instar.core.scene import Image
from instar.imaging.codecs import encode_jpeg

HEAT_SIDE = 224  # pixels: heat maps are smooth


def scaled_down(image: Image, longest: int) -> Image:
    """The picture with its longer side at most so long; a smaller one as it is."""
    scale = longest / max(image.shape[:2])
    if scale >= 1:
        return image
    height, width = (max(1, round(side * scale)) for side in image.shape[:2])
    return np.asarray(cv2.resize(image, (width, height), interpolation=cv2.INTER_AREA), np.uint8)


def encode_preview(image: Image, *, longest: int = 560, quality: int = 78) -> bytes:
    """The picture as WebP, at most so large."""
    shown = cv2.cvtColor(scaled_down(image, longest), cv2.COLOR_RGB2BGR)
    return cv2.imencode(".webp", shown, [cv2.IMWRITE_WEBP_QUALITY, quality])[1].tobytes()


def encode_scaled_jpeg(image: Image, *, longest: int) -> bytes:
    """The picture as JPEG, at most so large, for places that know no WebP."""
    return encode_jpeg(scaled_down(image, longest), 82)


def heat_overlay(heat: npt.NDArray[np.float32]) -> bytes:
    """A heat map `(h, w)` in [0, 1] as a WebP to lay over its picture: the hotter, the less transparent."""
    heat = visible(heat)
    scale = min(1.0, HEAT_SIDE / max(heat.shape))
    small = cv2.resize(heat, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA) if scale < 1 else heat
    grey = np.rint(np.clip(small, 0, 1) * 255).astype(np.uint8)
    colours = cv2.applyColorMap(grey, cv2.COLORMAP_TURBO)
    opacity = np.clip(40 + grey.astype(np.int16) * 0.8, 0, 220).astype(np.uint8)
    shown = np.dstack([colours, opacity])
    return cv2.imencode(".webp", shown, [cv2.IMWRITE_WEBP_QUALITY, 80])[1].tobytes()


def visible(heat: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """A heat map to look at: hot pixels of a fine one are widened, since nobody would see single ones."""
    side = 2 * (max(heat.shape) // 150) + 1
    widened = cv2.dilate(heat, np.ones((side, side), np.uint8)) if side > 1 else heat
    return np.asarray(widened, np.float32)
