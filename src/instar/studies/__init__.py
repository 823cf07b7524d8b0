"""What the studies of all families are told with: tables, and figures drawn with matplotlib."""

from instar.studies.figures import require_matplotlib, save_figures
from instar.studies.table import Table

__all__ = ["Table", "require_matplotlib", "save_figures"]
