import numpy as np
import pytest

from harness.analysis.statistics.multiple_testing import holm


def test_holm_is_statsmodels() -> None:
    """The same adjusted p values, in the order given; none of none."""
    from statsmodels.stats.multitest import multipletests

    p_values = list(np.random.default_rng(0).beta(0.3, 1, 40))

    assert holm(p_values) == pytest.approx(list(multipletests(p_values, method="holm")[1]))
    assert holm([]) == []
