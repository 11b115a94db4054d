"""Test sets and human grades, as people write them: read, checked, fingerprinted."""

from harness.questions.grades import (
    CaptionGrade,
    Gradebook,
    Subject,
    disputed,
    folded,
    last_words,
    of_edition,
    question_sha256,
    read_caption_grades,
    read_grades,
    response_sha256,
    still_meant,
    subject,
    verdict_by_text,
)
from harness.questions.places import check_evidence, check_places
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
    "check_evidence",
    "check_places",
    "disputed",
    "fingerprint",
    "folded",
    "last_words",
    "of_edition",
    "question_line",
    "question_sha256",
    "read_caption_grades",
    "read_csv_rows",
    "read_grades",
    "read_testset",
    "response_sha256",
    "select",
    "still_meant",
    "subject",
    "verdict_by_text",
]
