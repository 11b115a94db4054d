"""Evidence that names a document which is not in the corpus."""

from pathlib import Path

import pytest

from harness.errors import InputError
from harness.questions import check_evidence, testset
from harness.records import EvidencePlace, Question


def asked(*documents: str) -> testset.TestSet:
    places = tuple(EvidencePlace(name, 1, quote="x") for name in documents)
    question = Question("q1", "ask", "ref", "text", evidence=places)
    return testset.TestSet("set", Path("q.jsonl"), (question,))


@pytest.mark.parametrize(
    "name", ["report 2024", "report_2024", "report 2024.PDF", "docs/report 2024.pdf"]
)
def test_a_document_goes_by_its_name_or_its_files(name: str) -> None:
    """With folder and ending or without, with blanks or as passages carry it."""
    check_evidence(asked(name), ["report 2024.pdf", "other.docx"])


def test_a_document_that_is_not_there_is_refused() -> None:
    """The error names the question, the document, the nearest name and what there is."""
    with pytest.raises(InputError) as caught:
        check_evidence(asked("other", "reprot"), ["report.pdf", "other.docx"])

    assert str(caught.value) == (
        "q.jsonl: evidence of 'q1': unknown document 'reprot' (did you mean 'report'?); "
        "known: other, report"
    )


def test_a_system_without_a_corpus_is_asked_nothing() -> None:
    """What an application under test has read is not known here."""
    check_evidence(asked("report"), [])
