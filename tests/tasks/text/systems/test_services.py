"""Cloud services: what is sent, what is read out of their answers, recordings, and what goes wrong."""

from __future__ import annotations

import base64
import json
import pickle
from datetime import datetime, timezone

import numpy as np
import pytest

from clouds import KEYS, clouds
from instar.adapters.exchange import HttpRequest, HttpResponse, authorization
from instar.adapters.service import Service
from instar.adapters.throttle import Unavailable
from instar.cli import main
from instar.core.digest import digest
from instar.core.errors import BadInput, Refused
from instar.imaging.codecs import decode_picture, encode_png
from instar.tasks.text.systems.page import page_exact
from instar.tasks.text.systems.services.azure_read import Read, azure_read
from instar.tasks.text.systems.services.google_vision import Annotate, google_vision
from instar.tasks.text.systems.services.rekognition import DetectText, rekognition
from instar.tasks.text.systems.services.tencent_ocr import GeneralOcr, tencent_ocr
from instar.worlds import page

PICTURE = np.random.default_rng(0).integers(0, 256, (100, 200, 3), np.uint8)
SQUARE = [[20, 10], [60, 10], [60, 30], [20, 30]]
FACTORIES = {
    "rekognition": rekognition,
    "google-vision": google_vision,
    "azure-read": azure_read,
    "tencent-ocr": tencent_ocr,
}

# Each in the form that the service's reference shows, with one word at SQUARE.
AMAZON = {
    "TextDetections": [
        {
            "DetectedText": "IT'S MONDAY",
            "Type": "LINE",
            "Id": 0,
            "Confidence": 99.8,
            "Geometry": {"Polygon": [{"X": 0, "Y": 0}, {"X": 1, "Y": 0}, {"X": 1, "Y": 1}, {"X": 0, "Y": 1}]},
        },
        {
            "DetectedText": "MONDAY",
            "Type": "WORD",
            "Id": 3,
            "ParentId": 0,
            "Confidence": 87.5,
            "Geometry": {
                "BoundingBox": {"Width": 0.2, "Height": 0.2, "Left": 0.1, "Top": 0.1},
                "Polygon": [
                    {"X": 0.1, "Y": 0.1},
                    {"X": 0.3, "Y": 0.1},
                    {"X": 0.3, "Y": 0.3},
                    {"X": 0.1, "Y": 0.3},
                ],
            },
        },
    ],
    "TextModelVersion": "3.0",
}
VERTICES = [{"x": x, "y": y} for x, y in SQUARE]
GOOGLE_WORDS = {
    "responses": [
        {
            "textAnnotations": [
                {"locale": "en", "description": "MONDAY\n", "boundingPoly": {"vertices": VERTICES}},
                {"description": "MONDAY", "boundingPoly": {"vertices": VERTICES}},
            ]
        }
    ]
}
GOOGLE = {
    "responses": [
        {
            **GOOGLE_WORDS["responses"][0],
            "fullTextAnnotation": {
                "pages": [
                    {
                        "blocks": [
                            {
                                "paragraphs": [
                                    {
                                        "words": [
                                            {
                                                "boundingBox": {"vertices": VERTICES},
                                                "symbols": [{"text": c} for c in "MONDAY"],
                                                "confidence": 0.875,
                                            }
                                        ]
                                    }
                                ]
                            }
                        ]
                    }
                ],
                "text": "MONDAY\n",
            },
        }
    ]
}
AZURE = {
    "modelVersion": "2023-10-01",
    "metadata": {"width": 200, "height": 100},
    "readResult": {
        "blocks": [
            {
                "lines": [
                    {
                        "text": "MONDAY",
                        "boundingPolygon": VERTICES,
                        "words": [{"text": "MONDAY", "boundingPolygon": VERTICES, "confidence": 0.875}],
                    }
                ]
            }
        ]
    },
}
AZURE_3_2 = {
    "status": "succeeded",
    "analyzeResult": {
        "version": "3.2.0",
        "readResults": [
            {
                "page": 1,
                "lines": [
                    {
                        "words": [
                            {
                                "boundingBox": [20, 10, 60, 10, 60, 30, 20, 30],
                                "text": "MONDAY",
                                "confidence": 0.875,
                            }
                        ]
                    }
                ],
            }
        ],
    },
}
TENCENT = {
    "Response": {
        "TextDetections": [
            {
                "DetectedText": "MONDAY",
                "Confidence": 87.5,
                "Polygon": [{"X": x, "Y": y} for x, y in SQUARE],
                "AdvancedInfo": '{"Parag":{"ParagNo":1}}',
                "ItemPolygon": {"X": 20, "Y": 10, "Width": 40, "Height": 20},
            }
        ],
        "Language": "zh",
        "Angel": 0.0,
        "RequestId": "11e0a8c0",
    }
}


@pytest.fixture
def keys(monkeypatch):
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("AWS_SESSION_TOKEN", raising=False)


@pytest.fixture
def no_keys(monkeypatch):
    for name in KEYS:
        monkeypatch.delenv(name, raising=False)


def service(api, answer, *, status=200, recorded=""):
    """A service whose transport gives one response to everything, and the requests that it got."""
    requests = []

    def transport(request: HttpRequest) -> HttpResponse:
        requests.append(request)
        body = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
        return HttpResponse(status, body)

    asked = Service(api, transport=transport, recorded=recorded)
    asked.set_throttle(patience=0)
    return asked, requests


def apis():
    return {
        "rekognition": DetectText("eu-west-1", "https://rekognition.eu-west-1.amazonaws.com/"),
        "google-vision": Annotate("https://vision.googleapis.com/v1/images:annotate"),
        "azure-read": Read(""),
        "tencent-ocr": GeneralOcr("https://ocr.tencentcloudapi.com/"),
    }


@pytest.mark.usefixtures("keys")
@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("rekognition", AMAZON),
        ("google-vision", GOOGLE),
        ("azure-read", AZURE),
        ("azure-read", AZURE_3_2),
        ("tencent-ocr", TENCENT),
    ],
)
def test_the_word_in_a_documented_answer_is_read_with_its_box_text_and_score(name, answer):
    asked, _ = service(apis()[name], answer)
    (found,) = asked.predict([PICTURE])
    np.testing.assert_allclose(found.quads, [SQUARE], rtol=1e-6)
    assert found.texts == ("MONDAY",)
    np.testing.assert_array_equal(found.scores, np.float32([0.875]))


@pytest.mark.usefixtures("keys")
def test_google_words_without_a_full_text_have_no_scores_and_a_zero_is_left_out():
    at_the_edge = json.loads(json.dumps(GOOGLE_WORDS))
    corner = at_the_edge["responses"][0]["textAnnotations"][1]["boundingPoly"]["vertices"]
    del corner[0]["x"], corner[3]["x"]
    asked, _ = service(apis()["google-vision"], at_the_edge)
    (found,) = asked.predict([PICTURE])
    np.testing.assert_array_equal(found.quads, np.float32([[[0, 10], [60, 10], [60, 30], [0, 30]]]))
    assert (found.texts, found.scores) == (("MONDAY",), None)


@pytest.mark.usefixtures("keys")
@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("rekognition", {"TextDetections": [], "TextModelVersion": "3.0"}),
        ("google-vision", {"responses": [{}]}),
        ("azure-read", {"modelVersion": "2023-10-01", "readResult": {"blocks": []}}),
        ("tencent-ocr", {"Response": {"Error": {"Code": "FailedOperation.ImageNoText", "Message": "-"}}}),
    ],
)
def test_a_picture_without_text_is_answered_with_no_boxes(name, answer):
    asked, _ = service(apis()[name], answer)
    (found,) = asked.predict([PICTURE])
    assert (found.quads.shape, found.texts) == ((0, 4, 2), ())


@pytest.mark.usefixtures("keys")
def test_a_box_without_area_is_left_out_and_one_of_five_corners_is_an_error():
    thin = json.loads(json.dumps(TENCENT))
    line = thin["Response"]["TextDetections"][0]
    line["Polygon"] = [{"X": 5, "Y": 5}] * 4
    asked, _ = service(apis()["tencent-ocr"], thin)
    assert len(asked.predict([PICTURE])[0]) == 0
    line["Polygon"] = [{"X": 5, "Y": 5}] * 5
    asked, _ = service(apis()["tencent-ocr"], thin)
    with pytest.raises(ValueError, match="the box of 'MONDAY' has 5 corners, not four"):
        asked.predict([PICTURE])


@pytest.mark.usefixtures("keys")
def test_the_picture_arrives_without_loss_and_every_request_is_authorised():
    sent = {}
    for name, answer in (
        ("rekognition", AMAZON),
        ("google-vision", GOOGLE),
        ("azure-read", AZURE),
        ("tencent-ocr", TENCENT),
    ):
        asked, sent[name] = service(apis()[name], answer)
        asked.predict([PICTURE])
    ((amazon,), (google,), (azure,), (tencent,)) = sent.values()
    files = [
        base64.b64decode(json.loads(amazon.body)["Image"]["Bytes"]),
        base64.b64decode(json.loads(google.body)["requests"][0]["image"]["content"]),
        azure.body,
        base64.b64decode(json.loads(tencent.body)["ImageBase64"]),
    ]
    for file in files:
        np.testing.assert_array_equal(decode_picture(file), PICTURE)
    assert amazon.url == "https://rekognition.eu-west-1.amazonaws.com/"
    assert amazon.headers["X-Amz-Target"] == "RekognitionService.DetectText"
    assert "/eu-west-1/rekognition/aws4_request, " in amazon.headers["Authorization"]
    assert "SignedHeaders=content-type;host;x-amz-date;x-amz-target" in amazon.headers["Authorization"]
    assert google.headers["X-Goog-Api-Key"] == "google-key"
    assert json.loads(google.body)["requests"][0]["features"] == [{"type": "TEXT_DETECTION"}]
    assert azure.url == (
        "https://example.cognitiveservices.azure.com/computervision/imageanalysis:analyze"
        "?api-version=2024-02-01&features=read"
    )
    assert azure.headers["Ocp-Apim-Subscription-Key"] == "azure-key"
    assert tencent.headers["X-TC-Action"] == "GeneralAccurateOCR"
    assert tencent.headers["Authorization"].startswith("TC3-HMAC-SHA256 Credential=AKIDz8")


def test_a_session_token_is_sent_and_signed(keys, monkeypatch):
    monkeypatch.setenv("AWS_SESSION_TOKEN", "token")
    now = datetime(2015, 8, 30, 12, 36, tzinfo=timezone.utc)
    request = DetectText("us-east-1", "https://example.com/", now=lambda: now).request(b"picture")
    assert request.headers["X-Amz-Security-Token"] == "token"
    assert request.headers["X-Amz-Date"] == "20150830T123600Z"
    assert "x-amz-date;x-amz-security-token;x-amz-target" in request.headers["Authorization"]


def test_signatures_are_those_of_the_references():
    # The case "post-vanilla" of the signature version 4 test suite of AWS.
    amazon = authorization(
        "AWS4",
        (KEYS["AWS_ACCESS_KEY_ID"], KEYS["AWS_SECRET_ACCESS_KEY"]),
        scope=("20150830", "us-east-1", "service", "aws4_request"),
        moment="20150830T123600Z",
        headers={"Host": "example.amazonaws.com", "X-Amz-Date": "20150830T123600Z"},
        body=b"",
    )
    assert amazon.endswith("Signature=5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b")
    # The example of Tencent Cloud's page on signature version 3.
    tencent = authorization(
        "TC3",
        (KEYS["TENCENTCLOUD_SECRET_ID"], KEYS["TENCENTCLOUD_SECRET_KEY"]),
        scope=("2019-02-25", "cvm", "tc3_request"),
        moment="1551113065",
        headers={"Content-Type": "application/json; charset=utf-8", "Host": "cvm.tencentcloudapi.com"},
        body=rb'{"Limit": 1, "Filters": [{"Values": ["\u672a\u547d\u540d"], "Name": "instance-name"}]}',
    )
    assert tencent.endswith("Signature=72e494ea809ad7a8c8f7a4507b9bddcbaa8e581f516e8da2f66e2c5a96525168")


REFUSALS = [
    ("rekognition", 400, {"__type": "UnrecognizedClientException", "message": "The token is invalid."}),
    ("rekognition", 400, {"__type": "com.amazon#InvalidSignatureException", "message": "It does not match."}),
    ("google-vision", 400, {"error": {"code": 400, "message": "API key not valid.", "status": "INVALID"}}),
    ("google-vision", 403, {"error": {"code": 403, "message": "Disabled.", "status": "PERMISSION_DENIED"}}),
    ("azure-read", 401, {"error": {"code": "401", "message": "Access denied."}}),
    ("tencent-ocr", 200, {"Response": {"Error": {"Code": "AuthFailure.SignatureFailure", "Message": "-"}}}),
]
BUSY = [
    ("rekognition", 400, {"__type": "ThrottlingException", "message": "Slow down."}),
    ("google-vision", 429, {"error": {"code": 429, "message": "Quota.", "status": "RESOURCE_EXHAUSTED"}}),
    ("google-vision", 200, {"responses": [{"error": {"code": 14, "message": "Unavailable."}}]}),
    ("azure-read", 429, {"error": {"code": "429", "message": "Rate limit."}}),
    ("azure-read", 503, b"<html>unavailable</html>"),
    ("tencent-ocr", 200, {"Response": {"Error": {"Code": "RequestLimitExceeded", "Message": "-"}}}),
]
WRONG = [
    ("rekognition", 400, {"__type": "InvalidImageFormatException", "Message": "?"}, "refuses the picture"),
    (
        "google-vision",
        200,
        {"responses": [{"error": {"code": 3, "message": "Bad image data."}}]},
        "Bad image",
    ),
    ("azure-read", 200, {"modelVersion": "2023-10-01"}, "another form than expected: KeyError 'readResult'"),
    ("tencent-ocr", 200, b"<html>a proxy</html>", "answered '<html>a proxy</html>'"),
    ("tencent-ocr", 200, {"Response": {"TextDetections": [{"Polygon": 7}]}}, "another form than expected"),
]


@pytest.mark.usefixtures("keys")
@pytest.mark.parametrize(("name", "status", "answer"), REFUSALS)
def test_refused_credentials_are_named_with_the_variables_to_check(name, status, answer):
    asked, _ = service(apis()[name], answer, status=status)
    with pytest.raises(Refused, match=rf"{name} refuses the credentials \(.*; see [A-Z_]+") as refusal:
        asked.predict([PICTURE])
    assert not any(secret in str(refusal.value) for secret in KEYS.values())


@pytest.mark.usefixtures("keys")
@pytest.mark.parametrize(("name", "status", "answer"), BUSY)
def test_a_busy_service_may_be_asked_again(name, status, answer):
    asked, _ = service(apis()[name], answer, status=status)
    with pytest.raises(Unavailable, match=f"{name} is busy"):
        asked.predict([PICTURE])


@pytest.mark.usefixtures("keys")
@pytest.mark.parametrize(("name", "status", "answer", "complaint"), WRONG)
def test_anything_else_that_a_service_says_is_told(name, status, answer, complaint):
    asked, _ = service(apis()[name], answer, status=status)
    with pytest.raises(ValueError, match=complaint):
        asked.predict([PICTURE])


@pytest.mark.usefixtures("no_keys")
@pytest.mark.parametrize("name", FACTORIES)
def test_without_keys_or_recordings_what_is_missing_is_named(name, tmp_path, capsys):
    words = ["run", "--system", name, "--relation", "masking", "--scenes", "page:1", "--out", str(tmp_path)]
    assert main(words) == 2
    said = capsys.readouterr().err
    assert apis()[name].keys[0] in said
    assert "--set system.recorded=DIR" in said


@pytest.mark.usefixtures("no_keys")
def test_a_folder_of_recordings_that_is_not_there_is_named():
    with pytest.raises(
        BadInput, match="recorded is 'nowhere', which is no folder, and GOOGLE_API_KEY is not"
    ):
        google_vision(recorded="nowhere")


def test_what_was_recorded_is_played_back_without_keys(keys, monkeypatch, tmp_path):
    recorded = str(tmp_path / "answers")
    asked, requests = service(apis()["google-vision"], GOOGLE, recorded=recorded)
    (live,) = asked.predict([PICTURE])
    assert [path.name for path in (tmp_path / "answers" / "google-vision-png").iterdir()] == [
        f"{digest(PICTURE)}.json"
    ]
    asked.predict([PICTURE])
    assert len(requests) == 1  # the second answer was there already
    monkeypatch.delenv("GOOGLE_API_KEY")
    player = google_vision(recorded=recorded)
    (played,) = player.predict([PICTURE])
    np.testing.assert_array_equal(played.quads, live.quads)
    assert player.fingerprint == asked.fingerprint
    with pytest.raises(BadInput, match="json is not there, and GOOGLE_API_KEY not set"):
        player.predict([PICTURE[:50]])


@pytest.mark.usefixtures("no_keys")
def test_a_broken_recording_is_named(tmp_path):
    file = tmp_path / "tencent-ocr-png" / f"{digest(PICTURE)}.json"
    file.parent.mkdir()
    file.write_text('{"Response": ')
    with pytest.raises(BadInput, match=rf"{file.name}: the answer of tencent-ocr is cut off after 13 bytes"):
        tencent_ocr(recorded=str(tmp_path)).predict([PICTURE])


@pytest.mark.usefixtures("keys")
def test_refusals_are_not_recorded(tmp_path):
    asked, _ = service(apis()["tencent-ocr"], REFUSALS[-1][2], recorded=str(tmp_path))
    with pytest.raises(Refused):
        asked.predict([PICTURE])
    assert list(tmp_path.rglob("*.json")) == []


@pytest.mark.usefixtures("keys")
def test_a_picture_that_is_too_large_is_refused_before_it_is_sent():
    large = np.random.default_rng(1).integers(0, 256, (1400, 1400, 3), np.uint8)
    asked, requests = service(apis()["rekognition"], AMAZON)
    with pytest.raises(ValueError, match=r"5.9 MB as png; rekognition takes 5.24288; try --set system.enc"):
        asked.predict([large])
    assert requests == []


@pytest.mark.usefixtures("keys")
def test_a_host_where_nobody_answers_is_refused_at_once():
    away = tencent_ocr(endpoint="http://127.0.0.1:9/")
    away.set_throttle(patience=0)
    with pytest.raises(Refused, match=r"127.0.0.1:9 cannot be reached: .*refused"):
        away.predict([PICTURE])
    with pytest.raises(BadInput, match=r"endpoint is 'vision/.*'; it must be a URL"):
        google_vision(endpoint="vision")


@pytest.mark.usefixtures("keys")
@pytest.mark.parametrize("name", FACTORIES)
def test_a_worker_process_gets_the_service_but_not_the_secrets(name):
    packed = pickle.dumps(FACTORIES[name]())
    assert not any(value.encode() in packed for key, value in KEYS.items() if "ENDPOINT" not in key)
    assert pickle.loads(packed).fingerprint == FACTORIES[name]().fingerprint


@pytest.mark.usefixtures("keys")
@pytest.mark.parametrize("name", FACTORIES)
def test_over_http_the_answer_of_a_server_is_that_of_the_locator_behind_it(name):
    (scene,) = page.scenes(1)
    (expected,) = page_exact().predict([scene.image])
    with clouds() as server:
        (found,) = FACTORIES[name](endpoint=server.url).predict([scene.image])
    np.testing.assert_allclose(found.quads, expected.quads, atol=0.51)  # most answer in whole pixels
    assert len(server.asked) == 1


def test_a_campaign_over_a_service_is_recorded_and_played_back_with_the_same_verdicts(
    keys, monkeypatch, tmp_path, capsys
):
    (tmp_path / "photos").mkdir()
    for scene in page.scenes(2):
        (tmp_path / "photos" / f"{scene.id}.png").write_bytes(encode_png(scene.image))
    words = ["run", "--system", "rekognition", "--relation", "channel-switch,masking,watermark"]
    words += ["--scenes", str(tmp_path / "photos"), "--set", "search.watermarks=2"]
    words += ["--set", f"system.recorded={tmp_path / 'answers'}"]

    with clouds() as server:
        host = server.url.removeprefix("http://")
        there = [*words, "--out", str(tmp_path / "a"), "--set", f"system.endpoint={server.url}"]
        assert main(there) == 2
        said = capsys.readouterr().err
        assert (
            "rekognition will be asked about 16 calls, and at most 56 (8 a picture: itself, 5 changes" in said
        )
        assert f"pictures go to {host}; nothing was sent: say --yes" in said
        assert server.asked == []
        assert main([*there, "--yes"]) == 0
        assert f"rekognition sends them to {host}" in capsys.readouterr().err
    for name in KEYS:
        monkeypatch.delenv(name)
    asked = len(server.asked)
    assert main([*words, "--out", str(tmp_path / "b")]) == 0
    assert "instar sends them nowhere" in capsys.readouterr().err
    reports = []
    for run in ("a", "b"):
        assert main(["report", str(tmp_path / run), "--json"]) == 0
        reports.append(json.loads(capsys.readouterr().out))
    assert [report["held"] for report in reports] == [10, 10]
    assert reports[0]["violated"] == reports[1]["violated"] == 0
    assert len(server.asked) == asked
    assert 10 < asked <= 56
