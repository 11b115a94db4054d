"""The kind of processor: on another one a model in this process gives slightly other numbers."""

import platform
import re
from functools import cache
from pathlib import Path

FIELDS = ("model name", "cpu family", "model")


@cache
def processor() -> str:
    """Return name, family and model, as far as the system tells.

    Names alone do not tell virtual processors apart.
    """
    try:
        text = Path("/proc/cpuinfo").read_text("utf-8")
    except OSError:
        text = ""
    told = [re.search(rf"^{name}\s*:\s*(.+)$", text, re.MULTILINE) for name in FIELDS]
    known = [found[1].strip() for found in told if found]
    return " ".join(known) or platform.processor() or platform.machine()
