"""The kind of processor: on another one a model in this process returns slightly other numbers."""

import platform
import re
from functools import cache
from pathlib import Path

FIELDS = ("model name", "cpu family", "model")


@cache
def processor() -> str:
    """Return name, family and model, where the system reports them.

    Names alone do not distinguish virtual processors.
    """
    try:
        text = Path("/proc/cpuinfo").read_text("utf-8")
    except OSError:
        text = ""
    lines = [re.search(rf"^{name}\s*:\s*(.+)$", text, re.MULTILINE) for name in FIELDS]
    known = [found[1].strip() for found in lines if found]
    return " ".join(known) or platform.processor() or platform.machine()
