from pathlib import Path

import pytest

from tests.grade.small import Small
from tests.grade.small import small as written


@pytest.fixture
def small(tmp_path: Path) -> Small:
    """Two runs over three questions, with one caption."""
    return written(tmp_path)
