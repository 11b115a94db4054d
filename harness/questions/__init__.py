"""Test sets and human grades, as people write them: read, checked, fingerprinted."""

from harness.questions.grades import (
    CaptionGrade,
    Gradebook,
    Subject,
    answer_grades,
    caption_grades,
    current_grades,
    disputes,
    grade_by_text,
    is_of_edition,
    latest_grades,
    question_sha256,
    random_draws,
    read_choice,
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
