"""The shipped test sets: every line is valid, and every answer is where its evidence says."""

import re
from functools import cache
from pathlib import Path

import pytest

from harness.metrics import METRICS
from harness.questions import check_places, read_testset
from harness.records import Question
from harness.sources import read_corpus

ROOT = Path(__file__).parent.parent / "testsets"
SIZES = {"plurality": 13, "census": 15}
SENTENCE_END = re.compile(r"(?<=[。！？])|(?<=[.!?])\s+(?=[A-Z•*])")
CASES = [(name, question) for name in SIZES for question in read_testset(ROOT / name).questions]
ANSWERABLE = [(name, question) for name, question in CASES if question.answerable]

each_question = pytest.mark.parametrize(
    ("name", "question"), CASES, ids=[f"{name}-{question.id}" for name, question in CASES]
)
each_answerable = pytest.mark.parametrize(
    ("name", "question"), ANSWERABLE, ids=[f"{name}-{question.id}" for name, question in ANSWERABLE]
)


@cache
def pages(name: str, document: str) -> tuple[str, ...]:
    """Return the text of each page, as pypdfium2 gives it."""
    import pypdfium2

    with pypdfium2.PdfDocument(ROOT / name / "documents" / f"{document}.pdf") as pdf:
        return tuple(page.get_textpage().get_text_range() for page in pdf)


def compact(text: str) -> str:
    """Return the text without blanks and line-end hyphens (which pdfium gives as U+FFFE)."""
    return re.sub(r"[\s\ufffe]+", "", text)


def sentences(page: str) -> list[str]:
    """Return a page's sentences, lines put together; a table is one long sentence."""
    joined = re.sub(r"\s*\n\s*", " ", page.replace("\ufffe", ""))
    return [sentence for sentence in SENTENCE_END.split(joined) if sentence.strip()]


def is_right(question: Question, response: str) -> bool:
    """Say whether `answer_match` takes the response for right."""
    score = METRICS["answer_match"].compute(
        answers=question.answers, answerable=question.answerable, response_text=response
    )
    return score.value == 1.0


@pytest.mark.parametrize("name", SIZES)
def test_every_line_is_a_question(name: str) -> None:
    """Every line is read without complaint, and ids count from q1 in the order of the file."""
    questions = read_testset(ROOT / name).questions

    assert [question.id for question in questions] == [f"q{i + 1}" for i in range(SIZES[name])]


@pytest.mark.parametrize("name", SIZES)
def test_every_document_says_where_it_is_from(name: str) -> None:
    """The source and the licence of each document are beside it."""
    source = (ROOT / name / "SOURCE.md").read_text(encoding="utf-8")

    for document in (ROOT / name / "documents").iterdir():
        assert document.name in source
    assert "**Licence:**" in source


@each_question
def test_it_was_verified(name: str, question: Question) -> None:
    """Somebody checked the question on some day."""
    assert question.verified_by
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", question.verified_on or "")


@each_question
def test_source_agrees_with_evidence(name: str, question: Question) -> None:
    """An unanswerable question has neither evidence nor answers; the others have both."""
    assert question.answerable == (question.source != "none")
    assert bool(question.evidence) == question.answerable
    assert bool(question.answers) == question.answerable
    if question.source == "image":
        assert all(place.figure for place in question.evidence)


@pytest.mark.parametrize("name", SIZES)
def test_evidence_passes_as_collecting_checks_it(
    name: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Each quote is verbatim in the text that is read for an index."""
    documents = read_corpus([str(ROOT / name / "documents")], figures=False)
    read = {(d.name, page.number): page.text for d in documents for page in d.pages}
    check_places(read_testset(ROOT / name), read, None)

    assert caplog.text == ""


@each_question
def test_evidence_stands_on_its_page(name: str, question: Question) -> None:
    """Each quote is in the text of its page, and each figure's id names its page."""
    for place in question.evidence:
        texts = pages(name, place.document)

        assert place.page <= len(texts)
        if place.quote is not None:
            assert compact(place.quote) in compact(texts[place.page - 1])
        else:
            start = re.escape(f"{place.document}#{place.page}.f")
            assert re.fullmatch(start + "[1-9]", place.figure or "")


@each_question
def test_reference_is_right(name: str, question: Question) -> None:
    """The reference is a right answer to its own question; so is a refusal if there is none."""
    assert is_right(question, question.reference)


@each_answerable
def test_no_other_sentence_is_right(name: str, question: Question) -> None:
    """No sentence of the document passes for an answer but those that the evidence quotes."""
    for document in (ROOT / name / "documents").glob("*.pdf"):
        quotes = [compact(place.quote) for place in question.evidence if place.quote]
        for page in pages(name, document.stem):
            for sentence in filter(lambda text: is_right(question, text), sentences(page)):
                assert any(quote in compact(sentence) for quote in quotes), sentence
