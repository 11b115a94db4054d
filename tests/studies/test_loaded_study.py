"""What the analysis is asked for, from the settings and the test set."""

from dataclasses import replace

import pytest

from harness.analysis import StudyTable
from harness.records import EvidencePlace
from harness.studies.loaded_study import clusters
from tests.analysis.conftest import small_study


def on_documents(count: int) -> StudyTable:
    """Return a study of 16 questions, of which the first 15 have evidence in so many documents."""
    table = small_study(right={"P": [1] * 16})
    questions = [
        replace(question, evidence=(EvidencePlace(f"document {at % count}", 1, "quote"),))
        for at, question in enumerate(table.questions[:-1])
    ]
    return replace(table, questions=(*questions, table.questions[-1]))


def test_eight_documents_are_the_unit_of_sampling(caplog: pytest.LogCaptureFixture) -> None:
    """From eight documents on questions are counted by document, and the setting wins."""
    eight, seven = on_documents(8), on_documents(7)

    assert len(set(clusters(None, eight).values())) == 8
    assert clusters(None, seven) == clusters("question", eight) == {}
    assert not caplog.records
    assert len(set(clusters("document", seven).values())) == 7
    assert "without evidence, so alone: q16" in caplog.text
