"""Attacks on the workbench, none of which may succeed."""

from __future__ import annotations

import html
import http.client
import re
import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import quote, urlencode

import pytest
import uvicorn
from starlette.testclient import TestClient

import instar
from bench_runs import PORT, SCRIPT, lost, make_run, make_test_site, record
from instar.workbench.access import Access
from instar.workbench.app import make_app
from instar.workbench.site import Site

BASE = f"http://127.0.0.1:{PORT}"
NASTY = [
    SCRIPT,
    "../../etc/passwd",
    'a" onmouseover="alert(1)',
    "'; DROP TABLE records; --",
    "\u202eright to left",
    "x" * 10_000,
]
TRAVERSALS = [
    "../secret",
    "..%2fsecret",
    "%2e%2e/secret",
    "....//secret",
    "/etc/passwd",
    "..\\secret",
    "a/../../secret",
    "secret\x00",
    "file:///etc/passwd",
    "~root",
]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    outside = tmp_path_factory.mktemp("outside")
    root = outside / "shown"
    verdicts = [lost(-0.5, label=label, kind=label[:40]) for label in NASTY]
    records = [
        record(i, scene=NASTY[i % 6] + str(i), relation=NASTY[(i + 1) % 6], verdict=verdicts[i % 6])
        for i in range(12)
    ]
    records += [record(50 + i, verdict=instar.Verdict.inapplicable(reason)) for i, reason in enumerate(NASTY)]
    make_run(root / "<img src=x onerror=alert(1)>", records, system=SCRIPT)
    make_run(outside / "secret", [record(1)])
    return make_test_site(root)


@pytest.fixture(scope="module")
def client(site: Site) -> Iterator[TestClient]:
    with TestClient(make_app(site), base_url=BASE, follow_redirects=False) as client:
        answer = client.get("/", params={"token": site.access.token})
        assert answer.status_code == 303
        yield client


@pytest.fixture(scope="module")
def run(site: Site) -> str:
    (name,) = site.library.runs
    return name


def pages(run: str) -> list[str]:
    of = urlencode({"of": run})
    case = f"{0:016x}"
    return [
        "/runs",
        "/explore",
        "/summary",
        "/summary/figures",
        "/campaign/new",
        f"/campaign?{of}",
        f"/case/{case}?{of}",
        f"/case/{case}/pictures?{of}",
        f"/rate?{of}&rater={quote(SCRIPT)}",
        "/compare",
        f"/explore?scene={quote(SCRIPT)}",
        f"/explore?text={quote(SCRIPT)}",
        f"/nowhere/{quote(SCRIPT)}",
    ]


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.seen: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))


def tags_of(page: str) -> list[tuple[str, dict[str, str | None]]]:
    """Every tag of a page as a browser would see it."""
    parser = _Tags()
    parser.feed(page)
    return parser.seen


# --- token and cookie --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "path", ["/", "/explore", "/static/workbench.js", "/thumbnail/0?of=x", "/nowhere", "/job/1"]
)
@pytest.mark.parametrize("how", ["nothing", "wrong token", "wrong cookie", "token as cookie", "empty cookie"])
def test_nothing_is_told_without_the_token(site: Site, path: str, how: str) -> None:
    stranger = TestClient(make_app(site), base_url=BASE, follow_redirects=False)
    cookie = {"wrong cookie": "x" * 32, "token as cookie": site.access.token, "empty cookie": ""}.get(how)
    headers = {} if cookie is None else {"cookie": f"{site.access.cookie}={cookie}"}
    params = {"token": "x" * 32} if how == "wrong token" else {}
    answer = stranger.get(path, params=params, headers=headers)
    assert answer.status_code == 403
    assert "set-cookie" not in answer.headers
    assert answer.text.startswith("instar: ")


def test_the_token_leaves_the_address_and_the_cookie_is_for_us_alone(site: Site) -> None:
    stranger = TestClient(make_app(site), base_url=BASE, follow_redirects=False)
    answer = stranger.get("/explore", params={"status": "violated", "token": site.access.token})
    assert (answer.status_code, answer.headers["location"]) == (303, "/explore?status=violated")
    kept = answer.headers["set-cookie"]
    assert "HttpOnly" in kept
    assert "SameSite=Strict" in kept
    assert site.access.token not in kept
    assert stranger.get("/explore").status_code == 200


def test_every_start_has_its_own_secrets() -> None:
    one, other = Access(1), Access(1)
    assert len({one.token, one.session, one.form_token, other.token, other.session, other.form_token}) == 6
    assert len(one.token) >= 32


@pytest.mark.parametrize("path", ["//evil.example/", "/\\evil.example", "/%2f/evil.example"])
def test_the_redirect_never_leads_elsewhere(site: Site, path: str) -> None:
    app = make_app(site)
    stranger = TestClient(app, base_url=BASE, follow_redirects=False)
    answer = stranger.get(BASE + path, params={"token": site.access.token})
    assert answer.headers["location"].startswith("/")
    assert not answer.headers["location"].startswith(("//", "/\\"))


# --- rebinding and cross-site ------------------------------------------------------------------------


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        f"evil.example:{PORT}",
        "127.0.0.1",
        "127.0.0.1:1",
        f"127.0.0.1:{PORT}.evil.example",
        f"0.0.0.0:{PORT}",
        f"[::1]:{PORT}",
        "",
    ],
)
def test_a_foreign_host_is_refused_even_with_cookie_and_token(
    client: TestClient, site: Site, host: str
) -> None:
    assert client.get("/explore", headers={"host": host}).status_code == 403
    assert client.get("/", params={"token": site.access.token}, headers={"host": host}).status_code == 403


CROSS_SITE = [
    {"origin": "http://evil.example"},
    {"origin": "null"},
    {"origin": f"http://127.0.0.1:{PORT + 1}"},
    {"origin": f"https://127.0.0.1:{PORT}"},
    {"sec-fetch-site": "cross-site"},
    {"sec-fetch-site": "same-site"},
]


@pytest.mark.parametrize("headers", CROSS_SITE, ids=str)
def test_a_cross_site_post_is_refused_even_with_the_form_token(
    client: TestClient, site: Site, run: str, headers: dict[str, str]
) -> None:
    form = {"form": site.access.form_token, "mark": "acceptable"}
    answer = client.post(f"/case/{0:016x}/mark", params={"of": run}, data=form, headers=headers)
    assert answer.status_code == 403
    assert site.library.run(run).marks.history(f"{0:016x}") == []


@pytest.mark.parametrize(
    "path",
    [
        "/case/0000000000000000/mark",
        "/case/0000000000000000/do/replay",
        "/campaign/new",
        "/campaign/stop",
        "/campaign/resume",
        "/rule",
        "/rate/0000000000000000",
    ],
)
@pytest.mark.parametrize("token", [None, "", "x" * 64])
def test_a_post_without_the_form_token_does_nothing(
    client: TestClient, run: str, path: str, token: str | None
) -> None:
    form = {"mark": "acceptable", "name": "x"} | ({} if token is None else {"form": token})
    assert client.post(path, params={"of": run}, data=form).status_code == 403


def test_other_kinds_of_bodies_and_methods_are_refused(client: TestClient, site: Site) -> None:
    assert client.post("/rule", json={"form": site.access.form_token}).status_code == 415
    multipart = client.post("/rule", files={"form": ("x", site.access.form_token)})
    assert multipart.status_code == 415
    assert [
        client.request(method, "/explore").status_code for method in ("PUT", "DELETE", "OPTIONS", "TRACE")
    ] == [405] * 4


def test_a_get_changes_nothing(client: TestClient, run: str) -> None:
    for path in (
        "/case/0000000000000000/mark",
        "/campaign/stop",
        "/campaign/resume",
        "/case/0000000000000000/do/replay",
    ):
        assert client.get(path, params={"of": run}).status_code in (404, 405)


# --- paths -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("bad", TRAVERSALS)
def test_no_parameter_leads_out_of_the_folder(client: TestClient, site: Site, run: str, bad: str) -> None:
    form = site.access.form_token
    case = f"{1:016x}"
    for path in (
        "/case/{case}",
        "/case/{case}/pictures",
        "/case/{case}/export.zip",
        "/thumbnail/{case}",
        "/panel/{case}/0",
        "/drawing/{case}",
        "/campaign",
        "/campaign/state",
        "/rate",
        "/rate/{case}/answers",
    ):
        assert client.get(path.format(case=case), params={"of": bad}).status_code in (400, 404), path
        if "{case}" in path:
            answer = client.get(path.format(case=quote(bad, safe="")), params={"of": run})
            assert answer.status_code in (400, 404), path
    for path in (
        "/campaign/stop",
        "/campaign/resume",
        f"/case/{case}/mark",
        f"/case/{case}/do/shrink",
        f"/rate/{case}",
    ):
        assert client.post(path, params={"of": bad}, data={"form": form, "rater": "x"}).status_code in (
            400,
            404,
        ), path
    order = {
        "form": form,
        "name": "new",
        "system": "street-exact",
        "scenes": "street",
        "relation": "insertion",
        "count": "2",
    }
    for field in ("name", "system", "scenes", "relation", "search", "rules", "count"):
        answer = client.post("/campaign/new", data=order | {field: bad})
        assert answer.status_code == 400, field
    for path in ("/static/", "/rule/", "/job/", "/rule/x/"):
        assert client.get(path + quote(bad, safe="")).status_code in (400, 404, 405)
    for name in ("run", "system", "scene", "group", "text", "mark", "kind"):
        assert "secret</bdi> cannot" not in client.get("/explore", params={name: bad}).text
    assert list(site.library.runs) == [run]
    assert not (site.library.root.parent / "secret" / "marks.sqlite").exists()


def test_a_link_out_of_the_folder_is_no_way_out(tmp_path: Path) -> None:
    make_run(tmp_path / "secret", [record(1)])
    (tmp_path / "shown").mkdir()
    (tmp_path / "shown" / "link").symlink_to(tmp_path / "secret")
    assert dict(make_test_site(tmp_path / "shown").library.runs) == {}


# --- scripts -----------------------------------------------------------------------------------------


def test_whatever_comes_from_data_is_shown_as_text(client: TestClient, site: Site, run: str) -> None:
    form = {"form": site.access.form_token, "mark": "acceptable", "note": SCRIPT + NASTY[2]}
    assert client.post(f"/case/{0:016x}/mark", params={"of": run}, data=form).status_code == 303
    site.library.run(run).marks.rate(f"{0:016x}", SCRIPT[:60], {"real": 3, "reasonable": 3})
    for path in pages(run):
        page = client.get(path).text
        tags = tags_of(page)
        scripts = [given for tag, given in tags if tag == "script"]
        is_whole = page.startswith("<!doctype")
        assert scripts == ([{"src": "/static/workbench.js", "defer": None}] if is_whole else []), path
        wrong = [
            tag for tag, given in tags if any(name.startswith("on") or name == "style" for name in given)
        ]
        assert wrong == [], path
        links = [given[name] for _, given in tags for name in ("href", "src", "action") if name in given]
        assert all(link.startswith(("/", "#")) or link == "data:," for link in links), path
        assert all(given["src"].startswith("/") for tag, given in tags if tag == "img" and "src" in given), (
            path
        )
        assert "\u202e" not in page, path
        assert all(len(text) < 5_000 for text in re.split(r"[<>\"]", page)), path
    case = client.get(f"/case/{0:016x}", params={"of": run}).text
    assert html.escape(SCRIPT) in case


def test_rules_are_read_as_text(client: TestClient, site: Site) -> None:
    answer = client.post(
        "/rule", data={"form": site.access.form_token, "rules": f"If: a {SCRIPT} appears, Then: slow down."}
    )
    assert answer.headers["content-type"] == "application/json"
    (rule,) = answer.json()["rules"]
    assert "error" in rule
    refused = client.post(
        "/campaign/new", data={"form": site.access.form_token, "rules": SCRIPT, "name": SCRIPT}
    )
    assert refused.status_code == 400
    assert "<script>" not in refused.text


def test_every_answer_has_the_strict_policy(client: TestClient, run: str) -> None:
    for path in [*pages(run), "/static/workbench.js", f"/thumbnail/{0:016x}?{urlencode({'of': run})}"]:
        headers = client.get(path).headers
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert "http" not in policy
        assert "frame-ancestors 'none'" in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert "access-control-allow-origin" not in headers
    stranger = client.get("/explore", headers={"host": "evil.example"})
    assert "content-security-policy" in stranger.headers


# --- weight ------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Access]:
    """A real server, for what a test client would do differently."""
    root = tmp_path_factory.mktemp("served")
    make_run(root / "run", [record(i, verdict=lost(-0.5)) for i in range(200)])
    listening = socket.socket()
    listening.bind(("127.0.0.1", 0))
    site = make_test_site(root)
    access = Access(listening.getsockname()[1])
    object.__setattr__(site, "access", access)
    server = uvicorn.Server(uvicorn.Config(make_app(site), log_level="error"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    while not server.started:
        time.sleep(0.01)
    yield access
    server.should_exit = True
    thread.join(120)
    listening.close()


def test_a_body_of_100_mb_is_refused_without_being_read(served: Access) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", served.port, timeout=1200)
    headers = {
        "cookie": f"{served.cookie}={served.session}",
        "content-length": str(100 * 2**20),
        "content-type": "application/x-www-form-urlencoded",
    }
    connection.putrequest("POST", "/rule", skip_accept_encoding=True)
    for name, value in headers.items():
        connection.putheader(name, value)
    connection.endheaders()
    connection.send(b"x" * 1000)  # and never the rest
    assert connection.getresponse().status == 413
    connection.close()


def test_a_body_that_hides_its_length_is_cut_off(served: Access) -> None:
    sent = 0

    def chunks() -> Iterator[bytes]:
        nonlocal sent
        for _ in range(1600):
            sent += 65536
            yield b"x" * 65536

    connection = http.client.HTTPConnection("127.0.0.1", served.port, timeout=1200)
    headers = {
        "cookie": f"{served.cookie}={served.session}",
        "content-type": "application/x-www-form-urlencoded",
    }
    try:
        connection.request("POST", "/rule", body=chunks(), headers=headers, encode_chunked=True)
        assert connection.getresponse().status == 413
    except (BrokenPipeError, ConnectionResetError):
        pass  # it hung up on us
    assert sent < 50 * 2**20  # what systems keep for a server that does not read is far less
    connection.close()


def test_two_hundred_requests_at_once_are_all_answered(served: Access) -> None:
    cookie = {"cookie": f"{served.cookie}={served.session}"}
    paths = ["/explore?status=violated", "/summary", f"/case/{7:016x}?of=run", f"/thumbnail/{9:016x}?of=run"]

    def ask(i: int) -> int:
        connection = http.client.HTTPConnection("127.0.0.1", served.port, timeout=1200)
        connection.request("GET", paths[i % len(paths)], headers=cookie)
        answer = connection.getresponse()
        answer.read()
        connection.close()
        return answer.status

    with ThreadPoolExecutor(200) as crowd:
        assert set(crowd.map(ask, range(200))) == {200}
