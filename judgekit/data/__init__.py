"""Records and labels: sources, cards, joins of raters, preparation, export.

load_records(path, card=None)   any source -> RecordSet
"""

from judgekit.data.load import load_records
from judgekit.data.model import RecordSet

__all__ = ["RecordSet", "load_records"]
