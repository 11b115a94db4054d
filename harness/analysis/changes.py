"""What differs between two runs: their factors, their passages, and the evidence in them.

Runs that differ in one factor are a contrast; in several, they are confounded.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from harness.analysis.rankings import gold_flags
from harness.analysis.results import (
    Attribution,
    Change,
    IncomparableGroups,
    PassageChange,
    PassageComparison,
    Transition,
)
from harness.analysis.study_table import RunFacts, StudyTable, names_where
from harness.text import as_number, natural

ABSENT = "(absent)"
"""A factor's value on a side that has no such setting."""

Pair = tuple[int, int]


def changes(left: RunFacts, right: RunFacts) -> tuple[Change, ...]:
    """Return the factors that differ, each with its value on either side.

    A group whose choice differs is one factor, with the leaves that follow from it; within one
    choice each leaf is a factor, but for the build of a model, which follows the model's name where
    that differs. A setting that either side switches off is not a factor.

    >>> one = RunFacts("a", "a", {"prompt": "default"}, {"prompt.text": "x", "top_k": 4})
    >>> two = RunFacts("b", "b", {"prompt": "strict"}, {"prompt.text": "y", "top_k": 4})
    >>> changes(one, two)
    (Change(factor='prompt', left='default', right='strict', leaves=('prompt.text',)),)
    """
    inactive = left.inactive | right.inactive
    groups = [*left.choices, *(name for name in right.choices if name not in left.choices)]
    followers: dict[str, list[str]] = {
        group: []
        for group in groups
        if not switched_off(group, inactive) and differs(group, left.choices, right.choices)
    }
    single: dict[str, tuple[str, ...]] = {}
    for leaf in [*left.leaves, *(name for name in right.leaves if name not in left.leaves)]:
        if switched_off(leaf, inactive) or not differs(leaf, left.leaves, right.leaves):
            continue
        owner = owning_group(leaf, followers)
        if owner is not None:
            followers[owner].append(leaf)
        else:
            single[leaf] = ()
    for build in [leaf for leaf in single if leaf.endswith(".build")]:
        if (model := build.removesuffix("build") + "model") in single:
            single[model] = (build,)
            del single[build]
    whole = tuple(
        Change(group, *sides(group, left.choices, right.choices), tuple(leaves))
        for group, leaves in followers.items()
    )
    return whole + tuple(
        Change(leaf, *sides(leaf, left.leaves, right.leaves), leaves)
        for leaf, leaves in single.items()
    )


def differs(name: str, left: Mapping[str, object], right: Mapping[str, object]) -> bool:
    """Return whether a setting is absent on one side only, or has different values."""
    return (name in left) != (name in right) or left.get(name) != right.get(name)


def sides(
    name: str, left: Mapping[str, object], right: Mapping[str, object]
) -> tuple[object, object]:
    """Return a setting's value on either side."""
    return left.get(name, ABSENT), right.get(name, ABSENT)


def switched_off(name: str, inactive: frozenset[str]) -> bool:
    """Return whether a group or leaf, or a group that it belongs to, is inactive."""
    return name in inactive or owning_group(name, inactive) is not None


def owning_group(leaf: str, groups: Mapping[str, object] | frozenset[str]) -> str | None:
    """Return the innermost of the groups that contain a leaf."""
    parts = leaf.split(".")
    heads = (".".join(parts[:end]) for end in range(len(parts) - 1, 0, -1))
    return next((head for head in heads if head in groups), None)


@dataclass(frozen=True)
class Design:
    """All runs of a study against each other."""

    runs: Sequence[RunFacts]
    part: "Design | None" = None
    """A design of the first of these runs, whose pairs need not be compared again."""

    @cached_property
    def changes(self) -> dict[Pair, tuple[Change, ...]]:
        """Oriented pair of runs -> what differs, for runs over one corpus and test set."""
        found = dict(self.part.changes) if self.part else {}
        known = len(self.part.runs) if self.part else 0
        for i, j in combinations(range(len(self.runs)), 2):
            left, right = self.runs[i], self.runs[j]
            if j >= known and incomparable(left, right) is None:
                forward = changes(left, right)
                if descending(forward):
                    found[j, i] = tuple(reverse(change) for change in forward)
                else:
                    found[i, j] = forward
        return found

    def with_runs(self, runs: Sequence[RunFacts]) -> "Design":
        """Return the design with further runs."""
        return Design((*self.runs, *runs), self)

    @cached_property
    def factors(self) -> dict[Pair, frozenset[str]]:
        """Pair of runs, either way round -> names of the factors that differ."""
        names = {
            pair: frozenset(change.factor for change in found)
            for pair, found in self.changes.items()
        }
        return names | {(j, i): found for (i, j), found in names.items()}

    @property
    def contrasts(self) -> list[tuple[Pair, Change]]:
        """Pairs that differ in one factor and nothing else.

        Of runs with equal factors only the first is compared: each further one would repeat the
        same tests and enlarge the family.
        """
        echoes = self.echoes
        return [
            (pair, found[0])
            for pair, found in self.changes.items()
            if len(found) == 1 and not echoes.keys() & set(pair)
        ]

    @property
    def pools(self) -> list[tuple[Change, list[Pair]]]:
        """Each change of one factor, and the pairs that make it, all turned its way round."""
        found: dict[tuple[str, frozenset[str]], tuple[Change, list[Pair]]] = {}
        for pair, change in self.contrasts:
            key = change.factor, frozenset({repr(change.left), repr(change.right)})
            first, pairs = found.setdefault(key, (change, []))
            pairs.append(pair if first.left == change.left else pair[::-1])
        return list(found.values())

    @property
    def repeats(self) -> list[Pair]:
        """Pairs with equal factors."""
        return [pair for pair, found in self.changes.items() if not found]

    @property
    def echoes(self) -> dict[int, int]:
        """A run that repeats the factors of an earlier one -> the first run with them."""
        first: dict[int, int] = {}
        for earlier, later in self.repeats:
            first.setdefault(later, first.get(earlier, earlier))
        return first

    def stand_in(self, name: str | None) -> str | None:
        """Return the run whose contrasts are those of this one: the first with equal factors."""
        names = [run.name for run in self.runs]
        if name is None:
            return None
        return names[self.echoes.get(names.index(name), names.index(name))]


def incomparable(left: RunFacts, right: RunFacts) -> str | None:
    """Return why two runs may not be compared; None where they may."""
    if left.testset != right.testset:
        return "testset"
    if left.corpus == right.corpus:
        return None
    return "corpus" if left.corpus and right.corpus else "unknown_corpus"


def incomparable_groups(runs: Sequence[RunFacts]) -> tuple[IncomparableGroups, ...]:
    """Return each group of runs that are compared among themselves only, with the first group.

    The first group is one whose corpus is known, if there is any.
    """
    groups: dict[tuple[str, str], list[RunFacts]] = defaultdict(list)
    for run in sorted(runs, key=lambda run: not run.corpus):
        groups[run.testset, run.corpus].append(run)
    first, *others = groups.values()
    return tuple(
        (tuple(run.name for run in first), tuple(run.name for run in group), reason)
        for group in others
        if (reason := incomparable(first[0], group[0])) is not None
    )


def descending(found: Sequence[Change]) -> bool:
    """Return whether a lone change should be reversed, so that numbers and versions ascend."""
    if len(found) != 1:
        return False
    change = found[0]
    left, right = as_number(change.left), as_number(change.right)
    if left is not None and right is not None:
        return left > right
    if change.factor == "version":
        return version_key(change.left) > version_key(change.right)
    return False


def version_key(version: object) -> tuple[bool, object]:
    """Return a key that orders versions naturally, a run without a version first."""
    return version is not None, natural("" if version is None else str(version))


def reverse(change: Change) -> Change:
    """Return the same change read the other way."""
    return Change(change.factor, change.right, change.left, change.leaves)


T = TypeVar("T")

Codes = NDArray[np.int64]

COMPARISONS = tuple(PassageComparison)
"""Same, reordered, changed, unknown."""

UNKNOWN = -1
"""The code of a cell that failed, was not asked, or reports no passages."""


@dataclass(frozen=True, slots=True, eq=False)
class Fingerprints:
    """Numbers that are equal where the texts are equal: (runs, questions) each."""

    ranked: Codes
    """Of the passages in rank order."""
    together: Codes
    """Of the passages in any order."""
    answers: Codes
    """Of the responses' text."""
    calls: Codes
    """Of the generator's calls."""


def fingerprints(study: StudyTable) -> Fingerprints:
    """Number the distinct passage lists and answers, so that runs are compared at once."""
    shape = (len(study.runs), len(study.questions))
    ranked, together, answers, calls = (np.full(shape, UNKNOWN) for _ in range(4))
    numbers: dict[object, int] = {}
    for i, run in enumerate(study.runs):
        for j, question in enumerate(study.questions):
            repeats = study.responses.get((run.name, question.id), ())
            if not repeats or any(response.response is None for response in repeats):
                continue
            texts = once_if_equal([response.response for response in repeats])
            answers[i, j] = numbers.setdefault(("answer", texts), len(numbers))
            keys = tuple(response.call for response in repeats)
            if all(keys):
                calls[i, j] = numbers.setdefault(("calls", keys), len(numbers))
            if not all(response.passages for response in repeats):
                continue
            # a passage is compared by its id where its text was not kept
            lists = once_if_equal([tuple(p.text or p.id for p in r.passages) for r in repeats])
            ranked[i, j] = numbers.setdefault(("ranked", lists), len(numbers))
            bags = tuple(tuple(sorted(one)) for one in lists)
            together[i, j] = numbers.setdefault(("together", bags), len(numbers))
    return Fingerprints(ranked, together, answers, calls)


def drawable(study: StudyTable) -> NDArray[np.bool_]:
    """Return (questions,): questions to draw for grading, whose answers differ between two runs.

    In a study of one run they are all questions: there is no difference to learn about.
    """
    answers = fingerprints(study).answers
    return np.asarray((answers != answers[:1]).any(axis=0) | (len(answers) == 1))


def once_if_equal(repeats: Sequence[T]) -> tuple[T, ...]:
    """Return the repeats, reduced to one where all are equal, so that one can equal three."""
    return tuple(repeats[:1] if all(one == repeats[0] for one in repeats) else repeats)


def compare_passages(
    prints: Fingerprints, left: int, right: int, questions: Sequence[str], asked: NDArray[np.bool_]
) -> PassageChange:
    """Compare two runs' passages and answers on the questions that both were asked."""
    one, other = prints.ranked[left], prints.ranked[right]
    known = (one != UNKNOWN) & (other != UNKNOWN)
    reordered = known & (prints.together[left] == prints.together[right])
    kinds = np.select([known & (one == other), reordered, known], [0, 1, 2], 3)
    alike, same_calls = (
        (codes[left] == codes[right]) & (codes[left] != UNKNOWN)
        for codes in (prints.answers, prints.calls)
    )
    by_question = {questions[at]: COMPARISONS[kinds[at]] for at in np.flatnonzero(asked).tolist()}
    counts = np.bincount(kinds[asked], minlength=len(COMPARISONS)).tolist()
    return PassageChange(
        by_question=by_question,
        same=counts[0],
        reordered=counts[1],
        changed=counts[2],
        unknown=counts[3],
        identical_responses=names_where(questions, alike & asked),
        same_calls=names_where(questions, same_calls & asked),
    )


def attribute(change: PassageChange, factor: str) -> Attribution:
    """Return where a contrast's changes can have come from.

    A version is the one factor that may act on an answer although the model call is the same.

    >>> attribute(PassageChange({"q1": PassageComparison.SAME}, 1, 0, 0, 0, ()), "prompt")
    <Attribution.GENERATION: 'generation'>
    """
    asked = len(change.by_question)
    if change.reordered or change.changed:
        return Attribution.RETRIEVAL_CHANGED
    if asked and len(change.identical_responses) == asked:
        from_cache = factor == "version" and change.same_calls
        return Attribution.FROM_CACHE if from_cache else Attribution.NO_EFFECT_POSSIBLE
    return Attribution.GENERATION if change.same == asked > 0 else Attribution.UNKNOWN


Evidence = Mapping[tuple[str, str], bool]
"""(run, question id) -> whether any gold evidence was retrieved."""


def evidence_retrieved(study: StudyTable) -> dict[tuple[str, str], bool]:
    """Return where some of the gold evidence was retrieved, in any repeat."""
    found: dict[tuple[str, str], bool] = {}
    for run in study.runs:
        for (question, _), flags in gold_flags(study, run.name).items():
            found[run.name, question] = found.get((run.name, question), False) or any(flags)
    return found


def transitions(
    study: StudyTable, evidence: Evidence, left: int, right: int
) -> tuple[Transition, ...]:
    """Return the table of what happened to evidence and answers between two runs.

    Only questions with both facts known on both sides count: repeats that differ are neither.
    """
    cells: dict[tuple[bool, bool, bool, bool], list[str]] = defaultdict(list)
    for at, question in enumerate(study.questions):
        facts: list[bool] = []
        for run in (left, right):
            retrieved = evidence.get((study.runs[run].name, question.id))
            value = study.right.values[run, at]
            if retrieved is None or value not in (0, 1):
                break
            facts += [retrieved, bool(value)]
        else:
            cells[facts[0], facts[1], facts[2], facts[3]].append(question.id)
    return tuple(Transition(*facts, tuple(ids)) for facts, ids in sorted(cells.items()))
