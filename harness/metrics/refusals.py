"""Does a response decline to answer and do nothing else: a reader of sentence structure.

A response is read clause by clause. The words of a clause are replaced by their roles (a source, a
negation, a verb of saying ...), and `Grammar.refuses` says which sequences of roles refuse: "None
of the passages mention the painter" is `not of source mention x`. So a refusal is recognised by who
does not say, know or find what, and not by its wording.

A response is a refusal where some clause refuses and no other clause answers: apologies, "based on
the documents" and "please see ..." do not count, everything else is content. So "The documents do
not say. It is 42." is not a refusal, and neither is a right answer with a remark on what the
documents lack. How often the reader is right is measured by `tests/benchmarks/refusals.py`.
"""

import re
from functools import cache

from harness.metrics.refusal_grammars import CHINESE, ENGLISH, JAPANESE, SIMPLIFIED, Grammar
from harness.text import CITATION, HAN_KANA, HIRAGANA, fold, statements

_LABEL = re.compile(r"^(?:答案|回答|答覆|答|answer|response|a)\s*:\s*")
_MARKS = str.maketrans({"’": "'", "‘": "'"} | dict.fromkeys('「」『』“”"*_`#>()[]'))
_BLANKS = re.compile(r"[^\S\n]+")
_CONCESSION = re.compile(
    r"^(?:while|although|(?:even )?though|whereas|雖然|儘管)|(?:ものの|けれども?)$"
)
_HIRAGANA = re.compile(f"[{HIRAGANA}]")
_ENGLISH = re.compile(r"[a-z]{2,}")
_EAST_ASIAN = re.compile(f"[{HAN_KANA}]")


def is_refusal(text: str) -> bool:
    """Return whether the text declines to answer and says nothing else.

    English, Japanese, Traditional and Simplified Chinese are known.

    >>> is_refusal("資料中沒有提到。"), is_refusal("I'm sorry, but the documents do not say.")
    (True, True)
    >>> is_refusal("資料中沒有提到，但一般約為 5%。"), is_refusal("彰化縣，文件未提及原因。")
    (False, False)
    """
    plain = CITATION.sub(" ", fold(text))
    plain = _BLANKS.sub(" ", plain.translate(_MARKS))
    plain = _LABEL.sub("", plain.strip())
    if len(_ENGLISH.findall(plain)) > len(_EAST_ASIAN.findall(plain)):
        grammar = ENGLISH
    elif _HIRAGANA.search(plain):
        grammar = JAPANESE
    else:
        grammar, plain = CHINESE, plain.translate(SIMPLIFIED)
    readings = [_reading(statement, grammar) for statement in statements(plain)]
    return None not in readings and True in readings


def roles(clause: str, grammar: Grammar) -> str:
    """Return the roles of a clause's words, each followed by a blank.

    >>> roles("none of the passages mention the painter", ENGLISH)
    'not of source mention x '
    """
    found = []
    for match in _words(grammar).finditer(clause):
        names = [*grammar.roles.values()]
        found.append("x" if match.lastgroup == "other" else names[(match.lastindex or 1) - 1])
    return "".join(f"{role} " for role in " ".join(found).split())


def _reading(statement: str, grammar: Grammar) -> bool | None:
    """Return True for a statement that refuses, False for one beside the point, None for content.

    After a clause that refuses, or that sends the reader elsewhere, more of the same may follow,
    but for an answer that says it is one. "While they do not say, ..." leads to the main clause.
    """
    refuses = settled = False
    for part in re.split(grammar.comma, statement):
        clause = part.strip(" :")
        if re.match(grammar.answers, clause):
            return None
        if _refusing(grammar).match(roles(clause, grammar)):
            refuses = True
            settled = settled or not _CONCESSION.search(clause)
        elif re.match(grammar.beside, clause):
            settled = True
        elif re.match(grammar.resumes, clause) if settled else not re.match(grammar.leads, clause):
            return None
    return refuses


@cache
def _words(grammar: Grammar) -> re.Pattern[str]:
    """Return the pattern of one word; its group says which."""
    bound = r"\b" if grammar.word.isascii() else ""
    known = "|".join(f"{bound}({words}){bound}" for words in grammar.roles)
    return re.compile(f"{known}|(?P<other>{grammar.word})")


@cache
def _refusing(grammar: Grammar) -> re.Pattern[str]:
    """Return the pattern of the roles of a clause that refuses."""
    return re.compile("|".join(f"(?:{_sequence(line)})" for line in grammar.refuses))


def _sequence(line: str) -> str:
    """Return a sequence of roles, as `Grammar.refuses` writes it, as a regular expression.

    >>> _sequence("i can? not say/find $")
    'i (?:can )?not (?:say|find) $'
    """
    special = {"..": "(?:(?!(?:not|was|did|hold|mention) )\\w+ )*?", "*": "(?:\\w+ )*?", "$": "$"}
    parts = []
    for token in line.split():
        name = token.removesuffix("?")
        role = f"(?:{name.replace('/', '|')}) " if "/" in name else f"{name} "
        parts.append(special.get(token) or (f"(?:{role})?" if token.endswith("?") else role))
    return "".join(parts)
