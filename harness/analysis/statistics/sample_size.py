"""How many questions a study needs, and what it can show before anything is collected."""

import math
from bisect import bisect_left
from dataclasses import dataclass
from fractions import Fraction

from harness.analysis.statistics.intervals import t_quantile
from harness.analysis.statistics.sign_flip import smallest_p

MOST = 100_000
"""The largest number of questions that is considered, and of contrasts and metrics."""


@dataclass(frozen=True, slots=True)
class Assumptions:
    """What is not known before the study, and has to be assumed."""

    effect: float = 0.2
    """A mean difference worth finding."""
    spread: float = 0.4
    """Standard deviation over questions of the difference: 0.4 is what few-claim ratios give,
    and right/wrong where a sixth of the answers change."""
    auc: float = 0.85
    """Of a metric that is worth trusting."""
    share_right: float = 0.65
    """Of the answers."""
    alpha: float = 0.05
    """Chance of any false claim in the whole report."""
    power: float = 0.8

    def __post_init__(self) -> None:
        """Raise ValueError for an impossible value."""
        if self.effect == 0 or not math.isfinite(self.effect):
            raise ValueError(f"effect={self.effect:g} must be a number other than 0")
        above = {"spread": (0.0, math.inf), "auc": (0.5, 1.0)}
        for name in ("spread", "auc", "share_right", "alpha", "power"):
            value, (low, high) = getattr(self, name), above.get(name, (0.0, 1.0))
            if not low < value < high:
                ends = f"above {low:g}" if high == math.inf else f"between {low:g} and {high:g}"
                raise ValueError(f"{name}={value:g} must be {ends}")


@dataclass(frozen=True, slots=True)
class Power:
    """What a given number of questions, contrasts and metrics can show."""

    questions: int
    tests: int
    """Contrasts x metrics: the family that Holm corrects for."""
    level: float
    """What the strongest of the tests must fall under."""
    smallest_p: float
    """The smallest p that a sign-flip test of these questions can reach."""
    possible: bool
    """Whether any result at all could pass."""
    fewest_questions: int
    """From which on something could pass at all; for right/wrong, that many must change, all
    one way."""
    detectable: float | None
    """The mean difference that is found with the assumed power; None where no difference is."""
    questions_needed: int
    """To find the assumed effect with the assumed power."""
    graded_questions: int
    """That need a grade, to call a metric of the assumed AUC trusted 95 times in 100."""
    most_tests: int
    """The largest family in which these questions could still show something."""
    assumed: Assumptions


def power(
    questions: int, contrasts: int, metrics: int, assumed: Assumptions = Assumptions()
) -> Power:
    """Work out what a study could show.

    Args:
        questions: Of the test set.
        contrasts: Fair ones that the variants will make (seven, for the article's six).
        metrics: That will be tested, right/wrong among them.
        assumed: What has to be assumed.

    Raises:
        ValueError: A count below one, or above `MOST`.

    >>> found = power(questions=8, contrasts=7, metrics=4)
    >>> found.tests, found.possible, found.fewest_questions
    (28, False, 11)
    """
    if not all(1 <= count <= MOST for count in (questions, contrasts, metrics)):
        raise ValueError(
            f"questions, contrasts and metrics must each be 1 or more (up to {MOST:,})"
        )
    tests = contrasts * metrics
    level = assumed.alpha / tests
    needed = questions_needed(assumed.effect, assumed.spread, level, assumed.power)
    assert needed is not None
    return Power(
        questions=questions,
        tests=tests,
        level=level,
        smallest_p=smallest_p(questions),
        possible=smallest_p(questions) <= level,
        fewest_questions=fewest_changes(level),
        detectable=detectable(assumed.spread, questions, level, assumed.power),
        questions_needed=needed,
        graded_questions=graded_questions(assumed.auc, assumed.share_right, assumed.alpha),
        most_tests=math.floor(Fraction(assumed.alpha) * 2 ** (questions - 1)),
        assumed=assumed,
    )


def graded_questions(auc: float, share_right: float, alpha: float = 0.05) -> int:
    """Return how many questions must be graded to call a metric of this AUC trusted.

    The AUC's variance is Hanley and McNeil's (1982), as if the runs' answers to one question
    were a single one: several variants graded on the same questions can only do better.

    >>> graded_questions(0.85, 0.65)
    41
    """
    for n in range(6, MOST):
        margin = t_quantile(0.95, n - 1) - t_quantile(alpha / 2, n - 1)
        spread = math.sqrt(auc_variance(auc, n * share_right, n * (1 - share_right)))
        if math.log(auc / (1 - auc)) >= margin * spread / (auc * (1 - auc)):
            return n
    return MOST


def auc_variance(auc: float, right: float, wrong: float) -> float:
    """Return Hanley and McNeil's variance of an AUC over this many right and wrong answers."""
    two_right, two_wrong = auc / (2 - auc), 2 * auc**2 / (1 + auc)
    return (
        auc * (1 - auc) + (right - 1) * (two_right - auc**2) + (wrong - 1) * (two_wrong - auc**2)
    ) / (right * wrong)


def detectable(
    spread: float, n: int, level: float, power: float, binary: bool = False
) -> float | None:
    """Return the smallest mean difference that n questions find at this level with this power.

    Where each difference is 1, 0 or -1 (binary) it is exact, for answers that all change one way.
    Else by Student's t: differences are assumed to spread as normal ones do, and as much as these;
    where only a result with all questions on one side can pass, they must all lie there. None
    where even the clearest result cannot pass: the smallest sign-flip p is 2 / 2**n.

    >>> detectable(0.4, 8, 0.05, 0.8).__round__(2)
    0.46
    >>> detectable(0.4, 8, 0.05 / 28, 0.8)
    """
    from scipy.special import ndtri

    if binary:
        return detectable_share(n, level, power)
    if n < 2 or smallest_p(n) > level:
        return None
    df = n - 1
    by_size = (t_quantile(power, df) - t_quantile(level / 2, df)) / math.sqrt(n)
    all_alike = float(ndtri(power ** (1 / n))) if level < 2 * smallest_p(n) else 0.0
    return max(by_size, all_alike) * spread


def detectable_share(n: int, level: float, power: float) -> float | None:
    """Return the share of n answers that must change, all one way, to be found with this power.

    By the exact test on right and wrong: the probability that as many of n change as must is a
    binomial one. None where even n cannot pass.

    >>> detectable_share(12, 0.05 / 77, 0.8).__round__(3)  # all 12 of 12: 0.8 ** (1 / 12)
    0.982
    >>> detectable_share(10, 0.05 / 77, 0.8)
    """
    from scipy.special import betaincinv

    fewest = fewest_changes(level)
    return float(betaincinv(fewest, n - fewest + 1, power)) if fewest <= n else None


def fewest_changes(level: float) -> int:
    """Return how many questions must change, all one way, for a sign-flip p within the level.

    >>> fewest_changes(0.05), fewest_changes(2**-9)
    (6, 10)
    """
    return max(1, math.ceil(1 - math.log2(level)))


def questions_needed(
    mean: float, spread: float, level: float, power: float, binary: bool = False
) -> int | None:
    """Return how many questions find this mean difference; None where it is zero.

    Args:
        mean: The difference.
        spread: Its standard deviation over questions.
        level: That p must not exceed.
        power: The chance that it does not.
        binary: Each difference is 1, 0 or -1: `detectable_share` is then no larger than the mean.

    >>> questions_needed(0.25, 0.46, 0.05, 0.8), questions_needed(0.25, 0.46, 0.05, 0.8, True)
    (29, 31)
    """
    from scipy.special import bdtrc, ndtri

    if mean == 0:
        return None
    z = -float(ndtri(level / 2))  # 1 - level / 2 would round a small level away
    # z**2 / 2 is Guenther's correction for the spread being estimated; fractions never overflow
    ratio = Fraction(z + float(ndtri(power))) * Fraction(spread) / Fraction(mean)
    fewest = fewest_changes(level)
    needed = max(math.ceil(ratio * ratio + Fraction(z**2 / 2)), fewest, 2)
    if binary and needed < MOST:
        found = range(needed, MOST)
        return needed + bisect_left(found, power, key=lambda n: bdtrc(fewest - 1, n, abs(mean)))
    return needed
