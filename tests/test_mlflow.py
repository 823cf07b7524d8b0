"""A run in MLflow's own store, on disk."""

from __future__ import annotations

import json
import warnings

import pytest

from instar.cli import main
from instar.core.record import Record, Totals
from instar.core.verdict import Verdict
from instar.installation import MissingExtra
from instar.mlflow import log_run, metrics_of, parameters_of
from instar.report.summary import summarise

HOSTILE = "<script>alert(1)</script>/../../etc/passwd " + "x" * 10_000


@pytest.fixture
def client(tmp_path, monkeypatch):
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    monkeypatch.setenv("MLFLOW_TRACKING_URI", (tmp_path / "mlruns").as_uri())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # MLflow's own, about its store on disk
        import mlflow

        yield mlflow.MlflowClient()


def summary_of(name: str):
    records = [Record(str(i), "a", "a", name, i, None, Verdict.held(0.1)) for i in range(3)]
    return summarise(records, Totals(name, name, 7, 1, 4, 4, 1.5))


def test_numbers_parameters_and_files_arrive(client, tmp_path):
    page = tmp_path / "page.html"
    page.write_text("<p>report</p>")
    run = client.get_run(log_run(summary_of("mine"), experiment="nightly", files=[page]))
    assert client.get_experiment(run.info.experiment_id).name == "nightly"
    assert run.info.status == "FINISHED"
    assert run.data.metrics == metrics_of(summary_of("mine"))
    assert run.data.metrics["relations/mine"] == 0.0
    assert run.data.params == {"system": "mine", "relations": "mine", "seed": "7", "run": "mine"}
    assert {file.path for file in client.list_artifacts(run.info.run_id)} == {"page.html", "summary.json"}


def test_hostile_names_are_values_and_no_paths(client):
    run = client.get_run(log_run(summary_of(HOSTILE)))
    assert run.data.params["system"] == HOSTILE[:500] == parameters_of(summary_of(HOSTILE))["system"]
    assert all(".." not in name.split("/") for name in run.data.metrics)


def test_the_command_line_logs_a_run_with_its_page(client, tmp_path, capsys):
    run = tmp_path / "run"
    words = ["--system", "page-exact", "--relation", "masking", "--scenes", "page:1", "--out", str(run)]
    assert main(["run", *words, "--json"]) == 0
    capsys.readouterr()
    page = tmp_path / "page.html"
    assert main(["report", str(run), "--html", str(page), "--mlflow", "pages", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    logged = client.get_run(document["mlflow"])
    assert logged.data.params["system"] == "page-exact"
    assert "page.html" in {file.path for file in client.list_artifacts(document["mlflow"])}


def test_without_mlflow_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "mlflow", None)
    with pytest.raises(MissingExtra, match=r"pip install .*\[mlflow\]'"):
        log_run(summary_of("mine"))
