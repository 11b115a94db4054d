from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.llm import Calls
from harness.systems import Bench
from tests.fakes import CountingEmbedder


@pytest.fixture
def embedder() -> CountingEmbedder:
    return CountingEmbedder()


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    calls = Calls(tmp_path)
    yield Bench(calls, tmp_path)
    calls.close()
