from __future__ import annotations

import json
from pathlib import Path

import pytest

from instar import installation
from instar.installation import MissingExtra, install_command


class Distribution:
    def __init__(self, origin: object) -> None:
        self.origin = origin

    def read_text(self, name: str) -> str | None:
        return None if self.origin is None else json.dumps(self.origin)


@pytest.mark.parametrize(
    ("origin", "command"),
    [
        (
            {"url": "file:///home/a%20b/instar", "dir_info": {"editable": True}},
            "pip install -e '/home/a b/instar[torch]'",
        ),
        ({"url": "file:///home/instar", "dir_info": {}}, "pip install '/home/instar[torch]'"),
        (
            {"url": "file:///got/instar-0.2.0-py3-none-any.whl", "archive_info": {}},
            "pip install '/got/instar-0.2.0-py3-none-any.whl[torch]'",
        ),
        (
            {"url": "https://host/instar.git", "vcs_info": {"vcs": "git", "commit_id": "0"}},
            "pip install 'instar[torch] @ git+https://host/instar.git'",
        ),
    ],
)
def test_a_missing_extra_is_installed_from_where_instar_came(
    origin: object, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(installation, "distribution", lambda name: Distribution(origin))
    assert install_command("torch") == command
    error = MissingExtra("captum", extra="torch", needed_for="Grad-CAM")
    assert str(error) == f"Grad-CAM needs captum, which is not installed; run: {command}"


def test_a_source_tree_that_was_never_installed_says_where_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(installation, "distribution", lambda name: Distribution(None))
    root = Path(installation.__file__).parents[2]
    assert install_command("torch") == f"pip install -e '{root}[torch]'"
    assert install_command("weights") == f"pip install '{root}/weights'"
