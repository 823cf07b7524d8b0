"""Names that somebody else chose, and that must be shown as text in every format."""

SCRIPT = "<script>alert(1)</script>"
PATH = "../../etc/passwd"
LONG = "x" * 10_000
QUOTES = "\"'`]]>--><b onmouseover=alert(1)>|*_[a](javascript:alert(1))"
BACKWARDS = "\u202egnp.exe \u05e9\u05dc\u05d5\u05dd"
CONTROL = "a\x00b\x1b[31mred\x07\nnew line\ttab"

HOSTILE = [SCRIPT, PATH, LONG, QUOTES, BACKWARDS, CONTROL]
