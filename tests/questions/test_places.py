"""Evidence places that are not in the corpus."""

from pathlib import Path
from typing import ClassVar

import pytest

from harness.errors import InputError
from harness.questions import check_evidence, check_places, testset
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


class TestPlaces:
    """Pages, quotes and figures, held against what was read."""

    PAGES: ClassVar = {
        ("report", 1): "The lighthouse is 27 metres high, and stands on the northern cape.",
        ("report", 2): "燈塔高二十七公尺，建於一九三一年。",
        ("table", 1): "Height 53.6 37.5 15.4\nDepth 1, 200",
    }
    FIGURES = ("report#2.f1", "report#2.f2")

    @staticmethod
    def at(*places: EvidencePlace) -> testset.TestSet:
        question = Question("q1", "ask", "ref", "text", evidence=places)
        return testset.TestSet("set", Path("q.jsonl"), (question,))

    def check(self, *places: EvidencePlace) -> None:
        check_places(self.at(*places), self.PAGES, self.FIGURES)

    def test_what_is_there(self, caplog: pytest.LogCaptureFixture) -> None:
        """Case, blanks and width do not matter."""
        self.check(
            EvidencePlace("report.pdf", 1, quote="the LIGHTHOUSE is\n２７ metres"),
            EvidencePlace("report", 2, quote="燈塔高二十七公尺"),
            EvidencePlace("report", 2, figure="report#2.f1"),
            EvidencePlace("report", 1, figure="the map"),
            EvidencePlace("table", 1, quote="Height 53.6 37.5 15.4"),
        )
        assert caplog.text == ""

    def test_what_is_there_but_for_a_word(self, caplog: pytest.LogCaptureFixture) -> None:
        """It would be found, and may be a slip all the same: a warning names it."""
        self.check(
            EvidencePlace("report", 1, quote="the lighthouse is 27 metres wide"),
            EvidencePlace("table", 1, quote="Heights 37.5 15.4 Depth 1,200"),
        )

        assert (
            "quotes not verbatim on their page: 'q1' \"the lighthouse is 27 metres wide\""
            in caplog.text
        )

    @pytest.mark.parametrize(
        ("place", "said"),
        [
            (EvidencePlace("report", 3, quote="27 metres"), "'report' has 2 pages and no page 3"),
            (
                EvidencePlace("report", 1, quote="The bridge was opened by the queen in 1902"),
                "page 1 of 'report' does not contain \"The bridge was opened by the queen in 1…\"",
            ),
            (
                EvidencePlace("report", 1, quote="建於一九三一年"),
                "page 1 of 'report' does not contain \"建於一九三一年\"; page 2 has it",
            ),
            (
                EvidencePlace("report", 2, figure="report#2.f3"),
                "unknown figure on page 2 'report#2.f3' (did you mean 'report#2.f2'?); "
                "known: report#2.f1, report#2.f2",
            ),
            (
                EvidencePlace("report", 1, quote="The lighthouse is 28 metres high"),
                "page 1 of 'report' does not contain 28, which is in the quote",
            ),
            (
                EvidencePlace("report", 1, figure="report#2.f1"),
                "unknown figure on page 1 'report#2.f1'; known: none",
            ),
        ],
        ids=["page", "quote", "other page", "figure", "number", "figure elsewhere"],
    )
    def test_what_is_not(self, place: EvidencePlace, said: str) -> None:
        """Each error names its question, and the right page if it is known."""
        with pytest.raises(InputError) as caught:
            self.check(place)

        assert str(caught.value) == f"q.jsonl: evidence of 'q1': {said}"

    def test_slips_are_counted(self) -> None:
        """The first error is shown, with the number of the others."""
        with pytest.raises(InputError, match=r"no page 3 \(and 2 more\)$"):
            self.check(*(EvidencePlace("report", page, quote="27") for page in (3, 4, 5)))

    def test_what_was_not_read_is_not_judged(self) -> None:
        """Documents that the system keeps to itself, and figures where none were looked for."""
        check_places(self.at(EvidencePlace("other", 9, quote="x")), self.PAGES, self.FIGURES)
        check_places(self.at(EvidencePlace("report", 2, figure="report#2.f3")), self.PAGES, None)

    def test_a_short_quote(self, caplog: pytest.LogCaptureFixture) -> None:
        """Two characters are a quote in Chinese; they must be there as they are."""
        self.check(EvidencePlace("report", 2, quote="燈塔"), EvidencePlace("report", 1, quote="27"))
        assert caplog.text == ""
        for quote in ("四月", "  ", "7", "a1"):
            with pytest.raises(InputError, match="does not contain"):
                self.check(EvidencePlace("report", 1, quote=quote))

    def test_a_figure_where_none_was_found(self) -> None:
        """To have looked and found nothing is not the same as not to have looked."""
        with pytest.raises(InputError, match=r"'report#2\.f1'; known: none"):
            check_places(self.at(EvidencePlace("report", 2, figure="report#2.f1")), self.PAGES, ())
