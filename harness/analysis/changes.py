"""What differs between two configurations: one factor is a contrast, several are confounded."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

from harness.analysis.results import Change
from harness.analysis.study_table import RunFacts
from harness.text import as_number, natural

ABSENT = "(absent)"
"""A factor's value on a side that has no such setting."""

Pair = tuple[int, int]


def changes(left: RunFacts, right: RunFacts) -> tuple[Change, ...]:
    """Return the factors that differ, each with its value on either side.

    A group whose choice differs is one factor, with the leaves that follow from it; within one
    choice each leaf is a factor. A setting that either side switches off is not a factor.

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
    single = []
    for leaf in [*left.leaves, *(name for name in right.leaves if name not in left.leaves)]:
        if switched_off(leaf, inactive) or not differs(leaf, left.leaves, right.leaves):
            continue
        owner = owning_group(leaf, followers)
        if owner is not None:
            followers[owner].append(leaf)
        else:
            single.append(leaf)
    whole = tuple(
        Change(group, *sides(group, left.choices, right.choices), tuple(leaves))
        for group, leaves in followers.items()
    )
    return whole + tuple(Change(leaf, *sides(leaf, left.leaves, right.leaves)) for leaf in single)


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

    @cached_property
    def changes(self) -> dict[Pair, tuple[Change, ...]]:
        """Oriented pair of runs -> what differs, for runs over one corpus and test set."""
        found = {}
        for i, j in combinations(range(len(self.runs)), 2):
            left, right = self.runs[i], self.runs[j]
            if incomparable(left, right) is None:
                forward = changes(left, right)
                if descending(forward):
                    found[j, i] = tuple(reverse(change) for change in forward)
                else:
                    found[i, j] = forward
        return found

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
    return "corpus" if left.corpus != right.corpus else None


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
