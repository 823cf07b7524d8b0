"""The vendors' own libraries: they understand our server of their format, and find credentials for us."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from clouds import KEYS, TOKEN, Clouds, clouds
from instar.cli import main
from instar.imaging.codecs import encode_png
from instar.tasks.detection.systems.street import street_blobs
from instar.tasks.text.systems.page import page_exact
from instar.worlds import page, street

pytestmark = pytest.mark.real

Corners = list[list[float]]


def amazon_labels(url: str, picture: bytes) -> list[str]:
    found = _boto3(url).detect_labels(Image={"Bytes": picture}, MinConfidence=5)["Labels"]
    return [label["Name"] for label in found]


def amazon_text(url: str, picture: bytes) -> list[Corners]:
    found = _boto3(url).detect_text(Image={"Bytes": picture})["TextDetections"]
    return [[[corner["X"], corner["Y"]] for corner in one["Geometry"]["Polygon"]] for one in found]


def _boto3(url: str) -> Any:
    import boto3

    return boto3.client("rekognition", region_name="us-east-1", endpoint_url=url)


def google_labels(url: str, picture: bytes) -> list[str]:
    client, image = _google(url, picture)
    found = client.object_localization(image=image, metadata=GOOGLE_KEY).localized_object_annotations
    return [one.name for one in found]


def google_text(url: str, picture: bytes) -> list[Corners]:
    client, image = _google(url, picture)
    (one,) = client.text_detection(image=image, metadata=GOOGLE_KEY).full_text_annotation.pages
    words = one.blocks[0].paragraphs[0].words
    return [[[corner.x, corner.y] for corner in word.bounding_box.vertices] for word in words]


GOOGLE_KEY = [("x-goog-api-key", KEYS["GOOGLE_API_KEY"])]


def _google(url: str, picture: bytes) -> tuple[Any, Any]:
    from google.auth.credentials import AnonymousCredentials
    from google.cloud import vision

    client = vision.ImageAnnotatorClient(
        transport="rest", credentials=AnonymousCredentials(), client_options={"api_endpoint": url}
    )
    return client, vision.Image(content=picture)


def azure_labels(url: str, picture: bytes) -> list[str]:
    return [one.tags[0].name for one in _azure(url, picture, "OBJECTS").objects.list]


def azure_text(url: str, picture: bytes) -> list[Corners]:
    words = _azure(url, picture, "READ").read.blocks[0].lines[0].words
    return [[[corner.x, corner.y] for corner in word.bounding_polygon] for word in words]


def _azure(url: str, picture: bytes, feature: str) -> Any:
    from azure.ai.vision.imageanalysis import ImageAnalysisClient
    from azure.ai.vision.imageanalysis.models import VisualFeatures
    from azure.core.credentials import AzureKeyCredential

    client = ImageAnalysisClient(url, AzureKeyCredential(KEYS["VISION_KEY"]))
    return client.analyze(picture, [VisualFeatures[feature]])


def tencent_text(url: str, picture: bytes) -> list[Corners]:
    from tencentcloud.common.credential import Credential
    from tencentcloud.common.profile.client_profile import ClientProfile
    from tencentcloud.common.profile.http_profile import HttpProfile
    from tencentcloud.ocr.v20181119 import models, ocr_client

    there = HttpProfile(protocol="http", endpoint=url.removeprefix("http://"))
    keys = Credential(KEYS["TENCENTCLOUD_SECRET_ID"], KEYS["TENCENTCLOUD_SECRET_KEY"])
    client = ocr_client.OcrClient(keys, "ap-guangzhou", ClientProfile(httpProfile=there))
    request = models.GeneralAccurateOCRRequest()
    request.ImageBase64 = base64.b64encode(picture).decode()
    found = client.GeneralAccurateOCR(request).TextDetections
    return [[[corner.X, corner.Y] for corner in one.Polygon] for one in found]


@pytest.fixture(autouse=True)
def _keys(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)


@pytest.mark.parametrize("ask", [amazon_labels, google_labels, azure_labels])
def test_objects_are_read_from_our_server_by_the_vendors_library(ask: Callable[[str, bytes], Any]) -> None:
    picture = street.scenes(1)[0].image
    (found,) = street_blobs().predict([picture])
    with clouds() as server:
        assert ask(server.url, encode_png(picture)) == list(found.labels)
    assert server.told["fine"] == 1


@pytest.mark.parametrize("ask", [amazon_text, google_text, azure_text, tencent_text])
def test_words_are_read_from_our_server_by_the_vendors_library(ask: Callable[[str, bytes], Any]) -> None:
    picture = page.scenes(1)[0].image
    (found,) = page_exact().predict([picture])
    sides = [picture.shape[1], picture.shape[0]] if ask is amazon_text else [1, 1]
    with clouds() as server:
        words = ask(server.url, encode_png(picture))
    np.testing.assert_allclose(np.array(words) * sides, found.quads, atol=0.51)
    assert server.told["fine"] == 1


def amazon_profile(server: Clouds, monkeypatch: pytest.MonkeyPatch) -> str:
    Path("credentials").write_text(
        "[work]\naws_access_key_id = AKIDPROFILE\naws_secret_access_key = pr0file-secret\n"
    )
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", "credentials")
    monkeypatch.setenv("AWS_PROFILE", "work")
    server.secrets["AKIDPROFILE"] = "pr0file-secret"
    return "pr0file-secret"


def google_account(server: Clouds, monkeypatch: pytest.MonkeyPatch) -> str:
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import rsa

    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    text = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    ).decode()
    account = {"type": "service_account", "client_email": "me@example.com", "private_key": text}
    Path("account.json").write_text(json.dumps({**account, "token_uri": f"{server.url}/token"}))
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", "account.json")
    return text.splitlines()[1]


def azure_identity(server: Clouds, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("IDENTITY_ENDPOINT", f"{server.url}/msi")
    monkeypatch.setenv("IDENTITY_HEADER", "he4der-secret")
    return "he4der-secret"


def tencent_profile(server: Clouds, monkeypatch: pytest.MonkeyPatch) -> str:
    Path(".tencentcloud").mkdir()
    Path(".tencentcloud/credentials").write_text(
        "[default]\nsecret_id = AKIDTENCENT\nsecret_key = t3ncent-secret\n"
    )
    server.secrets["AKIDTENCENT"] = "t3ncent-secret"
    return "t3ncent-secret"


@pytest.mark.parametrize(
    ("name", "chain"),
    [
        ("rekognition-labels", amazon_profile),
        ("rekognition", amazon_profile),
        ("google-objects", google_account),
        ("google-vision", google_account),
        ("azure-objects", azure_identity),
        ("azure-read", azure_identity),
        ("tencent-ocr", tencent_profile),
    ],
)
def test_credentials_are_found_by_the_vendors_library_once_and_kept_nowhere(
    name: str, chain: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for variable in KEYS:
        monkeypatch.delenv(variable)
    is_text = name in ("rekognition", "google-vision", "azure-read", "tencent-ocr")
    words = [
        "run",
        "--system",
        name,
        "--set",
        "system.credentials=sdk",
        "--referees",
        "none",
        "--budget",
        "8",
    ]
    words += ["--relation", "masking"] if is_text else ["--relation", "mirrored"]
    words += ["--scenes", "page:1" if is_text else "street:1", "--out", "run", "--yes", "--json"]
    assert main([*words, "--set", "system.endpoint=http://127.0.0.1:9/"]) == 2
    assert "finds no credentials" in capsys.readouterr().out
    with clouds(bad=0.2) as server:
        secret = chain(server, monkeypatch)
        assert main([*words, "--set", f"system.endpoint={server.url}/"]) in (0, 1)
    document = json.loads(capsys.readouterr().out)
    assert (document["failed"], document["asked"] > 1) == (0, True)
    assert server.tokens == (1 if TOKEN in server.asked[0][1].get("authorization", "") else 0)
    for path in Path("run").rglob("*"):
        data = path.read_bytes() if path.is_file() else b""
        assert secret.encode() not in data
        assert TOKEN.encode() not in data
