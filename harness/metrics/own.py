"""The score of a check of one's own."""

from collections.abc import Sequence

import numpy as np

from harness.metrics.scored import Scored, share
from harness.records import Status, Verdict


def own_share(rows: Sequence[Verdict]) -> Scored:
    """Return the share of labels that count 1, or NA with the reason of the first that is missing.

    Args:
        rows: One judge's rows of the check on one response.

    >>> yes, no = (Verdict("j", "q", 0, "dated", item, label=1 - item) for item in (0, 1))
    >>> own_share([yes, no])
    Scored(value=0.5, units=2, status=<Status.OK: 'ok'>)
    """
    if not rows:
        return Scored(None, None, Status.NOT_ASKED)
    for row in rows:
        if row.label is None:
            reason = Status(row.error or Status.JUDGE_FAILED)
            return Scored(None, 0 if reason is Status.NO_PASSAGES else None, reason)
        if row.label not in (0, 1):
            return Scored(None, None, Status.JUDGE_UNPARSABLE)
    return share(np.array([row.label == 1 for row in rows]))
