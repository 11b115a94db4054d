"""Where the answers of a test set stand, held against the corpus that is collected over."""

from collections.abc import Iterable

from harness.errors import InputError, unknown
from harness.questions.testset import TestSet


def check_evidence(testset: TestSet, files: Iterable[str]) -> None:
    """Raise where evidence names a document that the corpus does not hold.

    No variant could retrieve it: its recall would be 0 and look like a result.

    Args:
        testset: All its questions: one that is not asked now is asked later.
        files: Names of the corpus' files; where there are none, nothing is known and nothing said.

    Raises:
        InputError: names the question, the document and the nearest one.
    """
    from harness.analysis.gold import stem  # loads all of analysis, which other stages do without

    documents = {stem(file) for file in files}
    for question in testset.questions:
        for name in (stem(place.document) for place in question.evidence):
            if documents and name not in documents:
                raise InputError(
                    f"{testset.path}: evidence of '{question.id}': "
                    + unknown(name, documents, "document")
                )
