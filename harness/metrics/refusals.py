"""Does a response decline to answer, and do nothing else.

A response is read clause by clause. It is a refusal where some clause refuses and no other
brings an answer: apologies, "based on the documents", "please see ..." are let through, what
is left counts as content. So "The documents do not say. It is 42." is no refusal, and neither
is a right answer with a remark on what the documents leave out.
"""

import re
import unicodedata

from harness.metrics.matching import CITATION
from harness.metrics.refusal_wordings import ANSWERS, ASIDES, LEAD_INS, REFUSALS, SIMPLIFIED

_LABEL = re.compile(r"^(?:答案|回答|答覆|答|answer|response|a)\s*:\s*")
_MARKS = str.maketrans({"’": "'", "‘": "'"} | dict.fromkeys('「」『』“”"*_`#>()[]'))
_SENTENCE_END = re.compile(
    r"[。!?;\n]+|\.(?=\s|$)"
    # What follows "but" stands for itself.
    r"|,?\s*(?:但是?|不過|然而|可是|只是,|ただし|しかし|けれども|\b(?:but|however)\b),?"
    r"|(?<=[んすたいだる])が、"
)
_BLANKS = re.compile(r"[^\S\n]+")
_COMMA = re.compile(r",\s*")
_JAPANESE_COMMA = re.compile(r"[,、]\s*")
_CONCESSION = re.compile(r"^(?:while|although|(?:even )?though|whereas)\b")
_KANA = re.compile(r"[\u3041-\u3096]")


def is_refusal(text: str) -> bool:
    """Return whether the text declines to answer and says nothing else.

    English, Japanese, Traditional and Simplified Chinese are known.

    >>> is_refusal("資料中沒有提到。"), is_refusal("I'm sorry, but the documents do not say.")
    (True, True)
    >>> is_refusal("資料中沒有提到，但一般約為 5%。"), is_refusal("彰化縣，文件未提及原因。")
    (False, False)
    """
    plain = CITATION.sub(" ", unicodedata.normalize("NFKC", text).casefold())
    plain = _BLANKS.sub(" ", plain.translate(_MARKS | SIMPLIFIED))
    plain = _LABEL.sub("", plain.strip())
    comma = _JAPANESE_COMMA if _KANA.search(plain) else _COMMA
    sentences = [part.strip() for part in _SENTENCE_END.split(plain)]
    readings = [_reading(comma.split(sentence)) for sentence in sentences if sentence]
    return None not in readings and True in readings


def _reading(clauses: list[str]) -> bool | None:
    """Return True for a sentence that refuses, False for one beside the point, None for content.

    After a clause that refuses, or that sends the reader elsewhere, more of the same may follow,
    but for an answer that says it is one. "While they do not say, ..." leads to the main clause.
    """
    refuses = settled = False
    for clause in clauses:
        if re.search(ANSWERS, clause):
            return None
        if re.search(REFUSALS, clause):
            refuses = True
            settled = settled or not _CONCESSION.match(clause)
        elif re.search(ASIDES, clause):
            settled = True
        elif not settled and not re.search(LEAD_INS, clause):
            return None
    return refuses
