from __future__ import annotations

from pathlib import Path

import pytest

from instar.campaigns.definite_plan import run_folders
from instar.campaigns.plan import make_plan


def test_runs_without_a_name_are_numbered_and_the_last_is_resumed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    plan = make_plan({"system": [{"use": "street-blobs"}, {"use": "street-blobs"}], "scenes": "street:1"})
    assert run_folders(plan) == ["runs/street-blobs", "runs/street-blobs-2"]
    for name in ("street-blobs", "street-blobs-2"):
        Path("runs", name).mkdir(parents=True)
    assert run_folders(plan) == ["runs/street-blobs-3", "runs/street-blobs-4"]
    one = make_plan({"system": [{"use": "street-blobs"}], "scenes": "street:1"})
    assert run_folders(one, resume=True) == ["runs/street-blobs-2"]
    named = make_plan({"system": [{"use": "street-blobs"}], "scenes": "street:1", "out": "runs/street-blobs"})
    assert run_folders(named) == ["runs/street-blobs"]
