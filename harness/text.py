"""The one place that says when two texts are equal, per stated purpose.

Every comparison starts from `fold`: one width (NFKC) and one case. What else may differ depends
on what is compared:

- a quote and a passage: `covers` (half of the quote's `ngrams`; a short quote as a whole)
- a number and a text: `holds_number`; two spellings of a `NUMBER`: `shortest_number`
- two claims: `claim_key` (blanks and the final stop may differ)
- two names typed by a person: `fold_name`; a document and its file: `document_name`
- an answer and a reference: `harness.metrics.answer_match`, which adds numerals and word endings
- a claim and a premise, without a model: `pieces` in `harness.judge.overlap_judge`

The character classes and the ways to split a text into sentences are here too, each once and with
its purpose. Nothing here does I/O.
"""

import hashlib
import re
import unicodedata
from decimal import Decimal
from itertools import pairwise, zip_longest
from numbers import Real

# Character classes: each constant is the inside of a regular expression's brackets.

HIRAGANA = "\u3041-\u3096"
"""Distinguishes Japanese from Chinese, which may use katakana in a name but never hiragana."""

KANA = "\u3040-\u30ff"
"""Hiragana and katakana, with the middle dot and the prolonged sound mark."""

HAN = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff々〆"
"""Chinese characters, as Chinese and Japanese write them; without the rare ones beyond U+FFFF."""

HAN_KANA = KANA + HAN
"""Letters of Chinese and Japanese. Hangul is left out: Korean puts blanks between words, and the
labels of the overlap judge depend on its words being kept whole."""

HANGUL = "\u1100-\u11ff\uac00-\ud7ff"
"""Letters and syllables of Korean."""

WITHOUT_BLANKS = (
    "\u2e80-\u2fdf\u2ff0-\u2fff\u3001-\u303f\u3040-\u30ff\u3105-\u312f\u31a0-\u31ff\u3400-\u4dbf"
    "\u4e00-\u9fff\uf900-\ufaff\uff01-\uff65\U00020000-\U0003ffff"
)
"""Han, kana and bopomofo with their punctuation and full-width forms: a blank between two of them
is an artefact of typesetting. The ideographic space itself is not one of them."""

CHARACTER_TOKENS = (
    f"\u0e00-\u0eff\u1000-\u109f{HANGUL}\u1780-\u17ff\u3005-\u3007\u3040-\u30fa\u30fc-\u30ff"
    "\u31f0-\u31ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
)
"""Letters that are compared one by one where others are compared by words: Thai, Lao, Burmese,
Khmer, Han, kana and, since its endings are attached to the word, Hangul."""

ACTIVE = re.compile(
    r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u206f\ufeff\ud800-\udfff"
    r"\U000e0000-\U000e007f]"
)
"""Control characters, line separators, changes of writing direction, hidden tags, and halves of
surrogate pairs."""

_UNSEEN = re.compile(rf"{ACTIVE.pattern}|[\xad\u061c\u200b\u200e\u200f\u2060-\u2064]")

CITATION = re.compile(r"\[\d+(?:\s*[,-]\s*\d+)*\]")
"""A citation mark, [3] or [1, 2]: it refers to a passage and is not part of an answer."""


def visible(text: str) -> str:
    """Return a text from a server, a file or a file's name as it may be printed.

    >>> visible("no such model " + chr(27) + "]0;title" + chr(0x202E))
    'no such model \\\\x1b]0;title\\\\u202e'
    """
    return _UNSEEN.sub(lambda found: ascii(found[0])[1:-1], text).replace("\r", "\\r")


def replace_surrogates(text: str) -> str:
    r"""Return a text with U+FFFD in the place of each lone surrogate.

    >>> replace_surrogates("ok\ud83d"), replace_surrogates("\ud83d\ude00")
    ('ok�', '😀')
    """
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def sha256(content: str | bytes) -> str:
    """Return the SHA-256 of a text in UTF-8, or of the content of a file."""
    data = content.encode("utf-8", "replace") if isinstance(content, str) else content
    return hashlib.sha256(data).hexdigest()


# Equality.


def fold(text: str) -> str:
    """Return a text in one width (NFKC) and one case.

    >>> fold("Ｔｈｅ Tower，２７ ｍ"), fold("ｶﾞｲﾄﾞ")
    ('the tower,27 m', 'ガイド')
    """
    return unicodedata.normalize("NFKC", text).casefold()


def compact(text: str) -> str:
    """Return a text folded and without blanks: line breaks of a page do not count in a quote.

    >>> compact("The Tower\\nis ２７ m")
    'thetoweris27m'
    """
    return "".join(fold(text).split())


def claim_key(claim: str) -> str:
    """Return what equal claims have in common; empty where a claim has no letter or digit.

    >>> claim_key("高 １．５ 公尺。"), claim_key("It is high"), claim_key("...")
    ('高1.5公尺', 'itishigh', '')
    """
    plain = compact(claim).strip(".。!;,、")
    return plain if any(c.isalnum() for c in plain) else ""


def letters(text: str) -> str:
    """Return the letters and digits of a text, folded: punctuation does not count either.

    >>> letters("塔高27.5公尺，The Tower.")
    '塔高275公尺thetower'
    """
    return "".join(c for c in fold(text) if c.isalnum())


def fold_name(name: str) -> str:
    """Return a name as a person may type it: case and surrounding blanks do not count.

    Width counts: graders in existing grades files are distinguished by it.

    >>> fold_name(" Amy "), fold_name("Ａmy")
    ('amy', 'ａmy')
    """
    return name.strip().casefold()


_ANY_EDITION = re.compile(r"[:@-](?:latest|free|default)\Z|\.gguf\Z")
_EDITION = re.compile(r"[-@](?:\d{4}-\d{2}-\d{2}|\d{3,8})(?:-preview)?|[.-]i?q\d\w*")


def same_model(requested: str, answered: str) -> bool:
    """Tell whether two names can mean one model.

    Case, owner, folder and `latest` do not count, and one name may add a date, a number of three
    digits or more, or a quantization to the other.

    >>> same_model("gpt-4o", "gpt-4o-2024-08-06"), same_model("llama3.1", "llama3.1:latest")
    (True, True)
    >>> same_model("gpt-4o", "gpt-4o-mini"), same_model("qwen2.5:7b", "qwen2.5:14b")
    (False, False)
    """
    names = [re.split(r"[/\\]", fold_name(name))[-1] for name in (requested, answered)]
    short, long = sorted((_ANY_EDITION.sub("", name) for name in names), key=len)
    added = long.removeprefix(short)
    return short == long or (added != long and _EDITION.fullmatch(added) is not None)


ENDINGS = (".pdf", ".txt", ".md", ".markdown", ".csv", ".html", ".htm", ".docx")
"""Of the files that a corpus is read from (a test compares them with `harness.sources`)."""


def document_name(document: str) -> str:
    """Return the name that passages have of a document, from that name or from its file's.

    It is safe as a part of a passage id; empty where no letter or digit is left.

    >>> document_name("corpus/麻疹 2024 #3.pdf"), document_name("麻疹_2024_3")
    ('麻疹_2024_3', '麻疹_2024_3')
    >>> document_name("v2.0"), document_name("tables.CSV")
    ('v2.0', 'tables')
    """
    name = unicodedata.normalize("NFC", document).replace("\\", "/").rpartition("/")[2]
    bare = name.rpartition(".")[0] if name.lower().endswith(ENDINGS) else name
    return re.sub(r"[^\w.-]+", "_", bare).strip("_.")


def ngrams(text: str, size: int) -> frozenset[str]:
    """Return the n-grams of `size` characters, each once; none in a shorter text.

    >>> sorted(ngrams("tower", 3)), ngrams("to", 3)
    (['owe', 'tow', 'wer'], frozenset())
    """
    return frozenset(text[at : at + size] for at in range(len(text) - size + 1))


TRIGRAM = 3
"""Characters of the n-grams by which a quote is recognised in a passage."""

COVERED = 0.5
"""Share of a quote's n-grams from which a passage counts as holding the quote."""


def covers(text: str, quote: str) -> bool:
    """Tell whether a text holds at least half of a quote, by its trigrams.

    A shorter quote must appear as a whole, and not as part of a longer number.

    >>> covers("The tower is 27 metres high.", "27 metres"), covers("The tower is high.", "27 m")
    (True, False)
    >>> covers("霧日最多為四月。", "四月"), covers("In 1927.", "27"), covers("Anything.", " ")
    (True, False, False)
    """
    if 0 < len(compact(quote)) < TRIGRAM:
        return holds_short_quote(text, quote)
    sought = ngrams(compact(quote), TRIGRAM)
    return bool(sought) and len(sought & ngrams(compact(text), TRIGRAM)) >= COVERED * len(sought)


def holds_short_quote(text: str, quote: str) -> bool:
    """Tell whether a text holds a short quote as a whole, and not as part of a number.

    Blanks may separate its characters, except two digits.

    >>> texts = ("2019 27", "４ ２７ 7", "1927", "27.5 m", "0.27", "2 7")
    >>> [holds_short_quote(text, "27") for text in texts]
    [True, True, False, False, False, False]
    >>> holds_short_quote("四 月", "四月"), holds_short_quote("In March.", "in")
    (True, True)
    """
    sought = compact(quote)
    gaps = [r"" if one.isdigit() and two.isdigit() else r"\s*" for one, two in pairwise(sought)]
    pattern = "".join(re.escape(one) + gap for one, gap in zip_longest(sought, gaps, fillvalue=""))
    before = r"(?<!\d)(?<!\d[.,])" if sought[0].isdigit() else ""
    after = r"(?!\d|[.,]\d)" if sought[-1].isdigit() else ""
    return re.search(before + pattern + after, fold(text)) is not None


def holds_number(text: str, number: str) -> bool:
    """Tell whether a number of a quote appears in a text, as the same digits and no others.

    A blank that a reader of PDF files put inside a number of either does not count.

    >>> holds_number("高１，２００公尺", "1,200"), holds_number("in 19 31.", "1931")
    (True, True)
    >>> holds_number("in 1931", "193")
    False
    """
    whole = re.compile(rf"(?<!\d){re.escape(compact(number))}(?!\d)")
    return any(map(whole.search, (fold(text), compact(text))))


# A point belongs to a number only where one follows alone: 3.1.2 is three numbers, not 3.1.
_POINT = r"\.[0-9]+(?!\.?[0-9])"
_COMMA = r",[0-9]+(?![.,]?[0-9])"
_FIRST = "(?<![0-9][.,])[1-9][0-9]{0,2}"
_INDIAN = "(?<![0-9][.,])[1-9][0-9]?(?:,[0-9]{2})+,[0-9]{3}"
_THOUSANDS = f"(?:{_FIRST}(?:,[0-9]{{3}})+|{_INDIAN})(?![0-9])"
_QUOTED = f"{_FIRST}(?:['’_][0-9]{{3}})+(?![0-9])"
# In "2019 300 400" and "12 345 67", and after H3, blanks separate numbers.
_SPACED = f"(?<![0-9a-z])(?<![0-9] ){_FIRST}(?: [0-9]{{3}})+(?! ?[0-9])"
_POINTED = rf"{_FIRST}(?:(?:\.[0-9]{{3}})+(?={_COMMA})|(?:\.[0-9]{{3}}){{2,}}(?![.,]?[0-9]))"
# Three digits after a comma are thousands, except after a zero or another separator.
_COMMA_ALONE = (
    f"(?:0{_COMMA}|[0-9]+,[0-9]{{1,2}}(?![.,]?[0-9])|[0-9]{{1,3}},[0-9]{{4,}}(?![.,]?[0-9]))"
)
# A hyphen or en dash is a minus only where no range or name can end before it: not in 27–30,
# 1月-3月, covid-19. After a range's en dash it is one: -5–-3.
_MINUS = r"(?:(?<![0-9a-z)\]%])(?<![0-9][^–])[-–])?"
_TIMES_TEN = r" ?(?:[x×*·]|\\times) ?10(?:\^|\*\*)"
_EXPONENT = rf"(?:e[-+–]?[0-9]{{1,3}}(?![0-9a-z])|{_TIMES_TEN}\{{?[-+–]?[0-9]{{1,3}}(?![0-9])\}}?)?"

NUMBER = (
    rf"{_MINUS}(?:(?:(?:{_POINTED}|{_QUOTED}|{_SPACED}){_COMMA}|(?<![0-9],){_COMMA_ALONE}"
    rf"|(?<![0-9]\.)(?:{_THOUSANDS}|{_QUOTED}|{_SPACED}|[0-9]+){_POINT}"
    rf"|{_THOUSANDS}|{_QUOTED}|{_SPACED}|{_POINTED}|[0-9]+){_EXPONENT}"
    r"|(?<![\w.])\.[0-9]+(?!\.?[0-9]))"
)
"""A number in a folded text, as people write it; its value: `shortest_number`.

Thousands: 1,234,567; 1,25,000; 1 234 567; 1'234'567; 1.234.567. Decimals: 2.5; 2,5; 0,125. One
group after a comma is thousands (1,234), after a point decimals (1.234). Exponents: 1e6;
2.5 × 10^6. The minus may be a hyphen or an en dash.
"""


def shortest_number(number: str) -> str:
    """Return the shortest spelling of a `NUMBER`: equal numbers are equal texts.

    Thousands separators, zeros that change nothing, and the minus of a zero are left out.

    >>> [shortest_number(n) for n in ("1,234.50", "007", "2.0", ".5", "-1.50", "-0")]
    ['1234.5', '7', '2', '0.5', '-1.5', '0']
    >>> [shortest_number(n) for n in ("2,50", "1,25,000", "1 234,5", "1.234.567", "1.5e-3")]
    ['2.5', '125000', '1234.5', '1234567', '0.0015']
    """
    mantissa, _, exponent = re.sub(_TIMES_TEN, "e", number).partition("e")
    digits = re.sub(r"[-–'’_ ]", "", mantissa)
    _, point, after_point = digits.partition(".")
    if "," in after_point or "." in after_point:
        digits = digits.replace(".", "")
    elif point or re.fullmatch(_THOUSANDS, digits):
        digits = digits.replace(",", "")
    digits = digits.replace(",", ".")
    if exponent:
        digits = f"{Decimal(digits).scaleb(int(exponent.strip('{}').replace('–', '-'))):f}"
    whole, _, decimals = digits.partition(".")
    decimals = decimals.rstrip("0")
    value = (whole.lstrip("0") or "0") + (f".{decimals}" if decimals else "")
    return f"-{value}" if number[0] in "-–" and value != "0" else value


def single_spaced(text: str, longest: int | None = None) -> str:
    """Return a text in one line, its blanks single, cut to a number of characters.

    >>> single_spaced("no such" + chr(10) + "  model"), single_spaced("no such model", 8)
    ('no such model', 'no such…')
    """
    if longest is None:
        return " ".join(text.split())
    return shortened(" ".join(text[: 100 * longest].split()), longest, "…")


def shortened(text: str, longest: int, mark: str = "...") -> str:
    """Return a text cut to a number of characters, the mark at its end among them.

    >>> shortened("27 metres", 9), shortened("27 metres high", 9)
    ('27 metres', '27 met...')
    """
    return text if len(text) <= longest else text[: longest - len(mark)] + mark


# Order.


NaturalKey = tuple[tuple[int, int, str], ...]


def natural(name: str) -> NaturalKey:
    """Return a sort key that reads runs of digits as numbers.

    >>> sorted(["q10", "q2", "q1"], key=natural)
    ['q1', 'q2', 'q10']
    """
    parts = re.split(r"([0-9]+)", name)
    return tuple((0, int(p), p) if p[:1].isdecimal() else (1, 0, p) for p in parts if p)


def as_number(value: object) -> float | None:
    """Return a factor's value as a number; None for text, also for digits, and for a boolean.

    >>> as_number(4), as_number("4"), as_number(True)
    (4.0, None, None)
    """
    return float(value) if isinstance(value, Real) and not isinstance(value, bool) else None


# Sentences.


_CLOSERS = r"[」』）】〉》)\]”’\"'*_]*(?:\s*\[\d+\])*"
_END = re.compile(
    rf"""
    (?: [。！？]+
      | ．(?!\d)
      | [!?]+ (?= {_CLOSERS} (?:\s | $ | [{HAN_KANA}]))
      | \.+ (?= {_CLOSERS} (?:\s | $ | [{HAN_KANA}]))
    ) {_CLOSERS} \s*
    | \s*\n\s*
    """,
    re.VERBOSE,
)
_ABBREVIATION = re.compile(
    r"(?:\b(?:Dr|Mr|Mrs|Ms|Prof|St|No|Nos|Fig|Figs|Eq|vs|cf|al|etc|Jr|Sr|Inc|Ltd|Co|Vol|approx|ca)"
    r"|\b[A-Za-z]|^\s*\(?\d{1,3}|\b(?:e\.g|i\.e))\.$"
)
_LIST_MARK = re.compile(r"^(?:[-*•·●▪#>]+\s+|\(?\d{1,3}[.)、]\s+)+")


def sentences(text: str) -> list[str]:
    """Return the sentences in order, as the judge without a model takes them for claims.

    Everything is kept except list marks and lines without a letter or digit; the last sentence
    needs no stop. A point inside a number or after an abbreviation does not end a sentence.

    >>> sentences("塔高27.5公尺。1931年啟用！真的嗎？是的")
    ['塔高27.5公尺。', '1931年啟用！', '真的嗎？', '是的']
    >>> sentences("It cost 1.5 million, says Dr. Ames. Twice as much as planned.")
    ['It cost 1.5 million, says Dr. Ames.', 'Twice as much as planned.']
    """
    found: list[str] = []
    start = 0
    for end in _END.finditer(text):
        if "\n" not in end[0] and _is_abbreviation(text, start, end):
            continue
        found.append(text[start : end.end()])
        start = end.end()
    found.append(text[start:])
    plain = (_LIST_MARK.sub("", sentence.strip()).strip() for sentence in found)
    return [sentence for sentence in plain if any(c.isalnum() for c in sentence)]


def _is_abbreviation(text: str, start: int, end: re.Match[str]) -> bool:
    """Tell whether a point belongs to an abbreviation, an initial or a list number."""
    stopped = text[start : end.start()] + end[0].rstrip()
    if end.end() == len(text) or not stopped.endswith("."):
        return False
    following = text[end.end()]
    return following.islower() or _ABBREVIATION.search(stopped) is not None


_QUOTE_END = re.compile(r"(?<=[。！？!?])|(?<=[.!?])(?=\s)|\n+")


def quotable_sentences(text: str) -> list[str]:
    """Return the sentences in order, verbatim, as the extractive generator quotes them.

    Not `sentences`: an answer must be a verbatim part of its passage, so list marks are kept, and
    the answers of existing runs depend on the cuts, even those after `Dr.`.

    >>> quotable_sentences("1. It cost 1.5 million. Dr. Ames agreed\\n塔高27公尺。真的")
    ['1.', 'It cost 1.5 million.', 'Dr.', 'Ames agreed', '塔高27公尺。', '真的']
    """
    return [part.strip() for part in _QUOTE_END.split(text) if part.strip()]


_STATEMENT_END = re.compile(
    r"[。!?;\n]+|\.(?=\s|$)"
    r"|,?\s*(?:但是?|不過|然而|可是|只是,|ただし|しかし|けれども|\b(?:but|however)\b),?"
    r"|(?<=[んすたいだる])が、"
)


def statements(folded: str) -> list[str]:
    """Return the statements of a folded text in order, as the rule for refusals reads them.

    Not `sentences`: the part after "but" is a separate statement, since "They do not say, but it
    is 42" is an answer. Stops are not included.

    >>> statements("they do not say, but it is 42. 沒有提到，但約為5%")
    ['they do not say', 'it is 42', '沒有提到，', '約為5%']
    """
    return [part.strip() for part in _STATEMENT_END.split(folded) if part.strip()]
