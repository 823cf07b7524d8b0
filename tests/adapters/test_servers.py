"""Detectors behind servers answer as they do here; what goes wrong on the way is waited out or told."""

from __future__ import annotations

import time

import numpy as np
import pytest

import servers
from instar.adapters.http_json import HttpSystem
from instar.adapters.kserve import KserveSystem
from instar.adapters.openai import OpenAiSystem
from instar.adapters.throttle import Throttle, Unavailable
from instar.core.errors import BadInput, Refused, Temporary
from instar.store.answers import decode_answer, encode_answer
from instar.tasks.detection.answers import read
from instar.tasks.detection.systems.street import street_blobs
from instar.worlds import street

MAPPING = "result.objects[].{label: class, score: confidence, box: [rect.a, rect.b, rect.c, rect.d]}"


@pytest.fixture(scope="module")
def picture():
    return street.scenes(1)[0].image


@pytest.fixture(scope="module")
def expected(picture):
    (found,) = street_blobs().predict([picture])
    assert len(found) > 2
    return found


def same(picture, answer, expected, *, within=1e-3):
    found = read(picture, decode_answer(encode_answer(answer)))
    assert found.labels == expected.labels
    np.testing.assert_allclose(found.boxes, expected.boxes, atol=within)
    np.testing.assert_allclose(found.scores, expected.scores, atol=1e-6)


@pytest.mark.parametrize("field", ["", "image"])
def test_a_json_server_is_read_by_the_declared_mapping(picture, expected, field):
    with servers.detector_server(street_blobs()) as server:
        system = HttpSystem(url=f"http://{server.host}/find", answer=MAPPING, field=field)
        (answer,) = system.predict([picture])
    same(picture, answer, expected)
    assert system.sends_to == server.host


def test_a_mapping_that_finds_nothing_or_is_none_is_told(picture):
    with servers.detector_server(street_blobs()) as server:
        url = f"http://{server.host}/find"
        with pytest.raises(
            ValueError, match=r"'predictions' finds nothing .* which has \['result', 'took'\]"
        ):
            HttpSystem(url=url, answer="predictions").predict([picture])
        with pytest.raises(BadInput, match="which is no JMESPath expression"):
            HttpSystem(url=url, answer="a[")


def test_a_key_of_the_environment_is_sent_and_never_told(picture, expected, monkeypatch):
    with servers.detector_server(street_blobs(), key="s3cret-key") as server:
        url = f"http://{server.host}/find"
        with pytest.raises(BadInput, match="needs MY_KEY in the environment"):
            HttpSystem(url=url, answer=MAPPING, auth="MY_KEY")
        monkeypatch.setenv("MY_KEY", "s3cret-key")
        system = HttpSystem(url=url, answer=MAPPING, auth="MY_KEY")
        same(picture, system.predict([picture])[0], expected)
        assert "s3cret" not in system.fingerprint
        monkeypatch.setenv("MY_KEY", "wr0ng-key")
        with pytest.raises(Refused, match=r"refuses the credentials .*see MY_KEY") as refusal:
            system.predict([picture])
    assert "wr0ng" not in str(refusal.value)


def test_the_open_inference_protocol_is_spoken(picture, expected, monkeypatch):
    names = sorted(set(expected.labels))
    monkeypatch.setattr(servers, "CLASSES", names)
    with servers.detector_server(street_blobs()) as server:
        system = KserveSystem(url=f"kserve://{server.host}/detector", labels=names)
        same(picture, system.predict([picture])[0], expected)
        with pytest.raises(BadInput, match="does not describe it"):
            KserveSystem(url=f"kserve://{server.host}/other")
        with pytest.raises(ValueError, match="there is no 'found': name its outputs"):
            KserveSystem(url=f"kserve://{server.host}/detector", boxes="found").predict([picture])


@pytest.mark.real
def test_our_server_of_that_protocol_is_one_to_tritons_own_client(picture, expected, monkeypatch):
    import tritonclient.http as client

    monkeypatch.setattr(servers, "CLASSES", sorted(set(expected.labels)))
    with servers.detector_server(street_blobs()) as server:
        triton = client.InferenceServerClient(server.host)
        assert triton.get_model_metadata("detector")["inputs"][0]["datatype"] == "UINT8"
        tensor = client.InferInput("image", [1, *picture.shape], "UINT8")
        tensor.set_data_from_numpy(picture[None])
        wanted = [client.InferRequestedOutput(name, binary_data=False) for name in ("boxes", "scores")]
        answer = triton.infer("detector", [tensor], outputs=wanted)
        np.testing.assert_allclose(answer.as_numpy("boxes"), expected.boxes, atol=1e-3)
        triton.close()


def test_a_chat_model_is_asked_for_boxes_in_thousandths(picture, expected, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with servers.detector_server(street_blobs()) as server:
        system = OpenAiSystem(model="seer", endpoint=f"http://{server.host}/v1", labels=["car", "person"])
        same(picture, system.predict([picture])[0], expected, within=0.05)
    assert b"of these classes: car, person" in server.asked[0][2]
    assert not system.paid
    with pytest.raises(BadInput, match="openai:seer needs OPENAI_API_KEY"):
        OpenAiSystem(model="seer")


@pytest.mark.parametrize("mood", ["500", "502", "retry-after 1", "cut", "stall"])
def test_a_server_that_recovers_is_waited_for(picture, expected, mood):
    with servers.detector_server(street_blobs()) as server:
        server.moods.append(mood)
        system = HttpSystem(url=f"http://{server.host}/find", answer=MAPPING)
        system.set_throttle(stall=1 if mood == "stall" else 60, patience=600)
        began = time.monotonic()
        same(picture, system.predict([picture])[0], expected)
        # Where an answer is waited for one second only, a busy machine may need more of them.
        assert len(server.asked) >= 2 if mood == "stall" else len(server.asked) == 2
        assert time.monotonic() - began >= (1 if mood == "retry-after 1" else 0.2)


def test_patience_ends(picture):
    with servers.detector_server(street_blobs()) as server:
        server.moods.extend(["retry-after 10"] * 2)
        system = HttpSystem(url=f"http://{server.host}/find")
        system.set_throttle(patience=2)
        with pytest.raises(Unavailable, match=r"is busy .*patience 2 s"):
            system.predict([picture])
    assert len(server.asked) == 1  # it is not asked before it wants to be


@pytest.mark.parametrize(
    ("path", "system"),
    [
        ("http://{}/find", HttpSystem),
        ("kserve://{}/detector", KserveSystem),
        ("http://{}/v1", lambda url, auth: OpenAiSystem(model="seer", endpoint=url, auth=auth)),
    ],
)
def test_what_is_no_json_is_shown_without_the_key(path, system, picture, monkeypatch):
    monkeypatch.setenv("A_KEY", "sesame" * 9)
    page = "<html>\n  no model for " + 9 * "sesame"
    with servers.detector_server(street_blobs()) as server:
        asked = system(url=path.format(server.host), auth="A_KEY")
        server.moods.append(f"say {page}")
        with pytest.raises(ValueError, match=r"answers with '<html> no model for \$A_KEY', which is no JSON"):
            asked.predict([picture])


def test_outputs_of_another_form_are_told(picture):
    with servers.detector_server(street_blobs()) as server:
        asked = KserveSystem(url=f"kserve://{server.host}/detector")
        server.moods.append("say [1, 2]")
        with pytest.raises(ValueError, match="answers in another form than the protocol has"):
            asked.predict([picture])


def test_a_line_keeps_to_its_rate():
    now, slept = [0.0], []

    def sleep(seconds):
        slept.append(seconds)
        now[0] += seconds

    line = Throttle(rate=4, sleep=sleep, clock=lambda: now[0])
    assert [line.ask(lambda n=n: n) for n in range(1, 6)] == [1, 2, 3, 4, 5]
    assert now[0] == pytest.approx(1.0)


def test_pauses_double_and_differ():
    now, slept = [0.0], []

    def sleep(seconds):
        slept.append(seconds)
        now[0] += seconds

    def busy():
        raise Temporary("not now")

    with pytest.raises(Unavailable):
        Throttle(patience=60, sleep=sleep, clock=lambda: now[0]).ask(busy)
    assert all(0.25 * 2**n <= pause <= 0.5 * 2**n for n, pause in enumerate(slept))
    assert len(slept) >= 6


def test_a_wrong_address_stops_at_the_first_question(picture):
    with servers.detector_server(street_blobs()) as server:
        server.moods.extend(["404"] * 2)
        wrong, gone = (HttpSystem(url=f"http://{server.host}/find") for _ in range(2))
        for _ in range(2):
            with pytest.raises(Refused, match="takes no pictures at that address"):
                wrong.predict([picture])
        assert len(server.asked) == 1
    with pytest.raises(Refused, match=r"cannot be reached: .* refused"):
        gone.predict([picture])


def test_a_server_that_says_nothing_gives_no_answer():
    assert Throttle().ask(lambda: None) is None


@pytest.mark.parametrize(
    "url",
    ["kserve://host", "kserve:///model"],
)
def test_a_name_without_host_or_model_is_refused(url):
    with pytest.raises(BadInput, match="is not of the form kserve://HOST/MODEL"):
        KserveSystem(url=url)


def test_a_password_in_a_url_is_refused():
    with pytest.raises(BadInput, match="the URL has a password in it"):
        HttpSystem(url="http://me:secret@host/find")
