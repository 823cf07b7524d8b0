"""A source archive is a file: it is found, checked and read, and nothing in it ever runs."""

from __future__ import annotations

import hashlib
import io
import tarfile

import pytest

from instar.core.errors import FetchFailed
from instar.zoo import Entry, Member, Package, fetch

POLICY = b"policy" * 50
PACKAGE = Package("pypi", "tiny-car", "1.0", 0.1, source=True)
MEMBER = Member("tiny_car-1.0/model/policy.pb", len(POLICY), hashlib.sha256(POLICY).hexdigest())
ENTRY = Entry(
    name="car", kind="model", what="tiny", package=PACKAGE, members=(MEMBER,), licence="CC0", origin="here"
)


def archive(tmp_path):
    """A source archive whose build script would leave a trace."""
    trace = tmp_path / "it ran"
    files = {
        "tiny_car-1.0/setup.py": f"open({str(trace)!r}, 'w')\nraise SystemExit(1)\n".encode(),
        "tiny_car-1.0/model/policy.pb": POLICY,
    }
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w:gz") as tarball:
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            tarball.addfile(info, io.BytesIO(content))
    return made.getvalue(), trace


@pytest.fixture
def only(monkeypatch, tmp_path):
    """Let pip's own configuration be nothing but these variables."""

    def configure(**variables):
        monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
        for name in ("PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "PIP_FIND_LINKS", "PIP_NO_INDEX", "PIP_CERT"):
            monkeypatch.delenv(name, raising=False)
        for name, value in variables.items():
            monkeypatch.setenv(name, str(value))

    return configure


def index_with(folder, link):
    page = folder / "simple" / "tiny-car"
    page.mkdir(parents=True)
    (page / "index.html").write_text(f'<a href="other-1.0.tar.gz">no</a><a href="{link}">tiny</a>')
    return (folder / "simple").as_uri()


def test_it_comes_from_the_index_that_pip_is_configured_with_and_is_never_built(tmp_path, only):
    content, trace = archive(tmp_path)
    (tmp_path / "tiny_car-1.0.tar.gz").write_bytes(content)
    link = f"../../tiny_car-1.0.tar.gz#sha256={hashlib.sha256(content).hexdigest()}"
    only(PIP_INDEX_URL=index_with(tmp_path, link))
    (path,) = fetch("car", folder=tmp_path / "models", manifest=(ENTRY,))
    assert path.read_bytes() == POLICY
    assert not trace.exists()


def test_it_comes_from_a_folder_of_files_too(tmp_path, only):
    content, _ = archive(tmp_path)
    links = tmp_path / "links"
    links.mkdir()
    (links / "tiny_car-1.0.tar.gz").write_bytes(content)
    only(PIP_NO_INDEX=1, PIP_FIND_LINKS=links)
    (path,) = fetch("car", folder=tmp_path / "models", manifest=(ENTRY,))
    assert path.read_bytes() == POLICY


def test_an_archive_that_is_not_what_its_index_says_is_refused(tmp_path, only):
    content, _ = archive(tmp_path)
    (tmp_path / "tiny_car-1.0.tar.gz").write_bytes(content)
    only(PIP_INDEX_URL=index_with(tmp_path, f"../../tiny_car-1.0.tar.gz#sha256={'0' * 64}"))
    with pytest.raises(FetchFailed, match="not the one of its index"):
        fetch("car", folder=tmp_path / "models", manifest=(ENTRY,))
    assert not (tmp_path / "models" / "policy.pb").exists()


def test_where_nobody_has_it_that_is_said(tmp_path, only):
    only(PIP_NO_INDEX=1)
    with pytest.raises(FetchFailed, match=r"no index that pip is configured with has tiny_car-1\.0\.tar\.gz"):
        fetch("car", folder=tmp_path / "models", manifest=(ENTRY,))
