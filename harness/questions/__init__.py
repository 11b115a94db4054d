"""Test sets and human grades, as people write them: read, checked, fingerprinted."""

from harness.questions.gradebook import Gradebook
from harness.questions.grades import (
    CaptionGrade,
    Subject,
    disputed,
    folded,
    last_words,
    read_caption_grades,
    read_grades,
    response_sha256,
    subject,
    verdict_by_text,
)
from harness.questions.rows import Row, read_csv_rows
from harness.questions.testset import (
    TestSet,
    fingerprint,
    question_line,
    read_testset,
    select,
)

__all__ = [
    "CaptionGrade",
    "Gradebook",
    "Row",
    "Subject",
    "TestSet",
    "disputed",
    "fingerprint",
    "folded",
    "last_words",
    "question_line",
    "read_caption_grades",
    "read_csv_rows",
    "read_grades",
    "read_testset",
    "response_sha256",
    "select",
    "subject",
    "verdict_by_text",
]
