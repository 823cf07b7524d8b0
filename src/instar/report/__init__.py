"""Reports: records in, a summary out, and the summary as text or JSON."""

from instar.report.summary import Counts, Placebos, RelationSummary, Summary, Violation, summarise
from instar.report.text import render_text

__all__ = ["Counts", "Placebos", "RelationSummary", "Summary", "Violation", "render_text", "summarise"]
