"""The notebook of the documentation runs, and shows a finding by its third cell."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import pytest

import instar
from instar.core.errors import BadInput
from instar.report.notebook import record_html

DOCS = Path(__file__).parents[2] / "docs"


def load_maker():
    spec = importlib.util.spec_from_file_location("make_notebook", DOCS / "make_notebook.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def html_of(notebook):
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    return ["".join(cell["outputs"][0]["data"].get("text/html", "")) for cell in cells]


def test_the_notebook_runs_and_shows_a_finding_by_its_third_cell():
    kept = json.loads((DOCS / "finding.ipynb").read_text(encoding="utf-8"))
    now = json.loads(json.dumps(kept))
    load_maker().run_cells(now)
    for _, summary, finding, verdict, comparison in (html_of(kept), html_of(now)):
        assert "different" not in summary or "street-blobs" in summary
        assert "<b>violated</b>" in finding
        assert "data:image/webp;base64," in finding
        assert "<th>finding</th>" in verdict
        assert "different failures fixed" in comparison
    assert html_of(kept)[1] == html_of(now)[1]
    assert (kept["nbformat"], kept["nbformat_minor"]) == (4, 5)
    assert len({cell["id"] for cell in kept["cells"]}) == len(kept["cells"])


def test_names_in_records_are_shown_as_text():
    verdict = instar.Verdict.violated([instar.Finding("<script>", "<b>", -0.5)])
    record = instar.Record("0" * 16, "<img>", "<img>", "<i>", 0, None, verdict)
    assert record._repr_html_() == record_html(record)
    assert "<script>" not in record._repr_html_()
    assert "<img>" not in record._repr_html_()
    assert instar.Verdict.inapplicable("no <place>")._repr_html_().count("no &lt;place&gt;") == 1


def test_what_is_no_run_is_refused(tmp_path):
    with pytest.raises(BadInput, match="is no run folder"):
        instar.Run(tmp_path)
