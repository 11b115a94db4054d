"""A judge's settings, held against those that it labelled a run with."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

MOST = 4
"""Settings that are named; a changed language alone changes half a dozen."""

LONGEST = 60
"""Characters of a value that is shown: of a hash or a wording the name of the setting must do."""


@dataclass(frozen=True, slots=True)
class Changed:
    """What is no longer as it was when a judge labelled a run."""

    settings: tuple[str, ...]
    """`chat.temperature 0.0, now 0.7`"""
    reworded: frozenset[str]
    """Checks of one's own whose wording changed."""
    itself: bool
    """Whether more changed than such wordings."""

    def keeps(self, name: str) -> bool:
        """Say whether labels of this check, or scores of this metric, are still the judge's."""
        return not self.itself and name not in self.reworded

    def __str__(self) -> str:
        more = len(self.settings) - MOST
        return "; ".join(self.settings[:MOST]) + (f"; and {more} more" if more > 0 else "")


def changed_since(before: Mapping[str, Any] | None, now: Mapping[str, Any]) -> Changed:
    """Return how a judge's identity differs from the one recorded; in nothing where none is.

    A check of one's own that was not asked before, or is not now, is no difference.
    """
    before = now if before is None else before
    own, then = now.get("own", {}), before.get("own", {})
    reworded = {name for name in own if then.get(name, own[name]) != own[name]}
    itself = list(differing({**before, "own": {}}, {**now, "own": {}}))
    wordings = [
        line for name in sorted(reworded) for line in differing(then[name], own[name], f"{name}.")
    ]
    return Changed((*itself, *wordings), frozenset(reworded), bool(itself))


def differing(before: Mapping[str, Any], now: Mapping[str, Any], inside: str = "") -> Iterator[str]:
    """Yield each setting that differs, with both values where they are short.

    >>> list(differing({"chat": {"seed": 0, "top_p": 1}}, {"chat": {"seed": 7, "top_p": 1}}))
    ['chat.seed 0, now 7']
    """
    for name in dict.fromkeys([*before, *now]):
        then, value = before.get(name), now.get(name)
        if isinstance(then, Mapping) and isinstance(value, Mapping):
            yield from differing(then, value, f"{inside}{name}.")
        elif then != value:
            was, is_now = (json.dumps(each, ensure_ascii=False) for each in (then, value))
            long = max(len(was), len(is_now)) > LONGEST
            yield f"{inside}{name}" + ("" if long else f" {was}, now {is_now}")
