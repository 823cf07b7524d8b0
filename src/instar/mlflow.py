"""A run in MLflow: its numbers as metrics, what was tested as parameters, its reports as artifacts.

Behind the extra `mlflow`; nothing is sent anywhere but to the tracking server that MLflow is set up for.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from instar.installation import import_extra
from instar.report.document import summary_to_json
from instar.report.groups import Group
from instar.report.summary import Summary

LONGEST = 500  # characters of a parameter, which MLflow bounds


def log_run(
    summary: Summary,
    groups: Iterable[Group] = (),
    *,
    experiment: str = "instar",
    files: Iterable[Path | str] = (),
) -> str:
    """Log a run into an experiment, and give the id that MLflow has for it."""
    mlflow = import_extra("mlflow", "mlflow", extra="mlflow", needed_for="logging to MLflow")
    client = mlflow.MlflowClient()
    found = client.get_experiment_by_name(experiment)
    where = found.experiment_id if found is not None else client.create_experiment(experiment)
    run = client.create_run(where, run_name=summary.totals.system[:LONGEST]).info.run_id
    for name, value in parameters_of(summary).items():
        client.log_param(run, name, value)
    for name, number in metrics_of(summary).items():
        client.log_metric(run, name, number)
    document = summary_to_json(summary) | {
        "groups": [{"title": group.title, "violations": len(group.cases)} for group in groups]
    }
    client.log_dict(run, document, "summary.json")
    for file in files:
        client.log_artifact(run, str(file))
    client.set_terminated(run)
    return str(run)


def parameters_of(summary: Summary) -> dict[str, str]:
    """What was tested, and how."""
    totals = summary.totals
    named = {
        "system": totals.system,
        "relations": ", ".join(summary.relations),
        "seed": str(totals.seed),
        "run": totals.run,
    }
    return {name: value[:LONGEST] for name, value in named.items()}


def metrics_of(summary: Summary) -> dict[str, float]:
    """Every number that the summary has, and the rate of each relation."""
    rates = {f"relations/{_key(name)}": one.rate for name, one in summary.relations.items()}
    numbers = summary.numbers() | rates
    return {name: float(number) for name, number in numbers.items() if number is not None}


def _key(name: str) -> str:
    """A relation's name in the letters that MLflow allows.

    >>> _key("If: a <b> appears")
    'If_ a _b_ appears'
    """
    return re.sub(r"[^\w\-. ]", "_", name, flags=re.ASCII)[:200]
