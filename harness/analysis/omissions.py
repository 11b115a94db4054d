"""The facts of a text that none of its claims repeats: numbers, names and dates.

Names are capitalised words inside a sentence, abbreviations, words in katakana, and what is quoted.
Other names in Chinese and Japanese cannot be distinguished from words, so there a whole clause
counts as a fact if almost nothing of it is in a claim.
"""

import re
from collections.abc import Sequence

from harness.analysis.reasons import stated_label
from harness.text import (
    CITATION,
    HAN_KANA,
    NUMBER,
    claim_key,
    fold,
    ngrams,
    sentences,
    shortest_number,
    statements,
)

_NUMBER = re.compile(NUMBER)
_NAME = re.compile(
    r"(?<=[\w,;:)] )[A-Z][\w-]+|\b[A-Z]{2,}\b|[ァ-ヺー]{3,}"
    r"|(?<=[《〈「『“\"])[^》〉」』”\"]{2,30}(?=[》〉」』”\"])"
)
_CLAUSE = re.compile(r"[^，、。；：！？,;:!?()（）\s]+")
_LETTER = re.compile(f"[{HAN_KANA}]")

SHORTEST = 5
"""Letters of Chinese and Japanese below which a clause may only connect others."""

MENTIONED = 0.2
"""Share of a clause's character pairs in the claims from which some claim is about it."""


def omitted_facts(text: str, claims: Sequence[str]) -> tuple[str, ...]:
    """Return the facts of a text that are in no claim, in the order of the text, each once.

    >>> text = "It is 27.0 metres tall. It was opened in 1931. It was built by Ada Ames."
    >>> omitted_facts(text, ["The tower is 27 metres tall."])
    ('1931', 'Ada', 'Ames')
    >>> omitted_facts("塔高27公尺，由河川公會建造。", ["塔高27公尺。"])
    ('由河川公會建造',)
    """
    said = fold("\n".join(claims))
    values = {shortest_number(number) for number in _NUMBER.findall(said)}
    pairs = ngrams(claim_key(said), 2)
    facts: list[str] = []
    for sentence in sentences(CITATION.sub("", text)):
        numbers = _NUMBER.findall(fold(sentence))
        found = [number for number in numbers if shortest_number(number) not in values]
        found += [name for name in _NAME.findall(sentence) if fold(name) not in said]
        for clause in _CLAUSE.findall(sentence) if claims else ():
            known = any(fold(fact) in fold(clause) for fact in found)
            found += [clause] if not known and _is_omitted(clause, pairs) else []
        facts += found
    return tuple(dict.fromkeys(facts))


def _is_omitted(clause: str, pairs: frozenset[str]) -> bool:
    """Return whether a clause states a fact, and hardly any of its pairs are in the claims."""
    own = ngrams(claim_key(clause), 2)
    remarks = (stated_label(statement, "") for statement in statements(fold(clause)))
    if len(_LETTER.findall(clause)) < SHORTEST or any(label is not None for label in remarks):
        return False
    return len(own & pairs) < MENTIONED * len(own)
