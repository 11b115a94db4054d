"""Right and wrong, question by question: which questions say anything at all."""

from collections import Counter

import numpy as np

from harness.analysis.measures import asked, named
from harness.analysis.results import OutcomeRow, Outcomes
from harness.analysis.tables import StudyTable


def outcomes(study: StudyTable) -> Outcomes:
    """Lay out the grid of right and wrong with its totals."""
    names = [question.id for question in study.questions]
    right, were_asked = study.right, asked(study)
    rows = []
    for i, run in enumerate(study.runs):
        known = ~np.isnan(right.values[i])
        rows.append(
            OutcomeRow(
                run=run.name,
                cells=tuple(
                    float(value) if is_known else None
                    for value, is_known in zip(right.values[i], known, strict=True)
                ),
                origins=tuple(right.origins[i]),
                right=float(right.values[i][known].sum()),
                known=int(known.sum()),
                asked=int(were_asked[i].sum()),
                errors=int((right.errors[i] > 0).sum()),
            )
        )
    known = (~np.isnan(right.values)).sum(axis=0) >= 2
    lowest = np.nan_to_num(right.values, nan=np.inf).min(axis=0, initial=np.inf)
    highest = np.nan_to_num(right.values, nan=-np.inf).max(axis=0, initial=-np.inf)
    return Outcomes(
        questions=tuple(names),
        rows=tuple(rows),
        informative=named(names, known & (lowest < highest)),
        always_right=named(names, known & (lowest == 1)),
        always_wrong=named(names, known & (highest == 0)),
        unknown=named(names, ~known),
        origins=dict(Counter(origin for row in rows for origin in row.origins if origin)),
    )
