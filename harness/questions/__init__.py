"""Test sets and human grades, as people write them: read, checked, fingerprinted."""

from harness.questions.grades import (
    CaptionGrade,
    Gradebook,
    Subject,
    current_grades,
    disputes,
    grade_by_text,
    is_of_edition,
    latest_grades,
    question_sha256,
    response_sha256,
    subject_of,
)
from harness.questions.places import check_evidence, check_places
from harness.questions.testset import (
    FileRow,
    TestSet,
    fingerprint,
    question_line,
    read_csv_rows,
    read_testset,
    select,
)

__all__ = [
    "CaptionGrade",
    "FileRow",
    "Gradebook",
    "Subject",
    "TestSet",
    "check_evidence",
    "check_places",
    "current_grades",
    "disputes",
    "fingerprint",
    "grade_by_text",
    "is_of_edition",
    "latest_grades",
    "question_line",
    "question_sha256",
    "read_csv_rows",
    "read_testset",
    "response_sha256",
    "select",
    "subject_of",
]
