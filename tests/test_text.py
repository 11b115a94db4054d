"""Each comparison of texts is defined once, and gives what the former definitions gave.

The former definitions, one a room, are kept below as references. Keys, labels and scores of runs
made before rest on them, so old and new must agree on every text of the shipped test sets.
"""

import gzip
import json
import re
import unicodedata
from collections.abc import Callable, Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest

from harness import text
from harness.judge import overlap_judge
from harness.judge.echoes import _script as script
from harness.metrics import answer_match, refusals
from harness.sources import corpus, pdf, read_corpus

ROOT = Path(__file__).parent.parent / "testsets"
NAMES = ("plurality", "census")
UNUSUAL = (
    "",
    " \n",
    "…",
    "Ｔｈｅ Ｔｏｗｅｒ　ｉｓ ２７．５ ｍ！",
    "ｶﾞｲﾄﾞﾗｲﾝは、㈱日立が㎡あたり１，２３４円で公開した。",
    "1. First [1, 2]. Dr. Ames, e.g. in Fig. 3, disagrees; see No. 5 [３]！",
    "他說：「是。」但是資料中沒有提到。然而約為1,050.0人、佐々木〆切",
    "대한민국의 인구는 5천만 명이다. 서울은 수도이다.",
    "The documents do not say, but it is 42. However: -0.50 %, +007, 10², 5 ½",
    "I'm sorry — the context does not mention it.",
    "資料には記載がありませんが、おそらく12月です。分かりません。",
    "ประชากรของไทย 66 ล้านคน ㄅㄆㄇ 𠮷野家",
    "- one\n- two\n\n---\n(3) three\n● four",
    "What?No  straße İstanbul",
)
"""What the test sets do not hold: other widths and scripts, list marks, contrasts, odd numbers."""


def strings(value: object) -> Iterator[str]:
    """Yield every text of a JSON value, except hashes."""
    if isinstance(value, str):
        if not re.fullmatch("[0-9a-f]{64}", value):
            yield value
    elif isinstance(value, dict):
        yield from strings(list(value.values()))
    elif isinstance(value, list):
        for one in value:
            yield from strings(one)


@cache
def texts() -> tuple[str, ...]:
    """Return each text once: questions, grades, replies, pages with their lines, and `UNUSUAL`."""
    found = dict.fromkeys(UNUSUAL)
    for name in NAMES:
        for file in sorted((ROOT / name).glob("*.jsonl")):
            for line in file.read_text(encoding="utf-8").splitlines():
                found.update(dict.fromkeys(strings(json.loads(line))))
        for page in pages(name):
            found.update(dict.fromkeys([page, *page.splitlines()]))
    found.update(dict.fromkeys(answers()))
    return tuple(found)


@cache
def answers() -> tuple[str, ...]:
    """Return the references of both test sets and the recorded replies: what claims come from."""
    rows = [
        json.loads(line)
        for name in NAMES
        for line in (ROOT / name / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    with gzip.open(ROOT / "plurality" / "recorded.jsonl.gz", "rt", encoding="utf-8") as lines:
        replies = [json.loads(line).get("text", "") for line in lines]
    return tuple(dict.fromkeys([*(row["reference"] for row in rows), *replies]))


@cache
def pages(name: str) -> tuple[str, ...]:
    """Return the pages of a test set's documents, as an index takes them."""
    documents = read_corpus([str(ROOT / name / "documents")], figures=False)
    return tuple(page.text for document in documents for page in document.pages)


def nfkc(value: str) -> str:
    return unicodedata.normalize("NFKC", value)


# The former definitions, by the module that they stood in.

CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff々〆"
CITATION = re.compile(r"\[\d+(?:\s*[,-]\s*\d+)*\]")
CITATION_OF_ANSWERS = re.compile(r"\[[0-9]+(?:\s*[,-]\s*[0-9]+)*\]")


def text_evened(value: str) -> str:
    return "".join(nfkc(value).casefold().split())


def text_trigrams(value: str) -> frozenset[str]:
    even = text_evened(value)
    return (
        frozenset(even[at : at + 3] for at in range(max(1, len(even) - 2))) if even else frozenset()
    )


def text_covers(value: str, quote: str) -> bool:
    """The branch for quotes of three characters or more."""
    wanted = text_trigrams(quote)
    return bool(wanted) and len(wanted & text_trigrams(value)) >= 0.5 * len(wanted)


def suspects_even(value: str) -> str:
    return text_evened(value).strip(".。")


def suspects_bigrams(value: str) -> frozenset[str]:
    even = suspects_even(value)
    return frozenset(even[at : at + 2] for at in range(len(even) - 1))


def claims_key(claim: str) -> str:
    plain = text_evened(claim).strip(".。!;,、")
    return plain if any(c.isalnum() for c in plain) else ""


def claims_script(value: str) -> str | None:
    if re.search(r"[\u3041-\u30ff]", value):
        return "kana"
    han = len(re.findall(r"[\u3400-\u4dbf\u4e00-\u9fff]", value))
    latin = len(re.findall(r"[A-Za-z]", value))
    if han >= 4 and han * 4 >= latin:
        return "han"
    return "latin" if latin >= 12 and not han else None


def overlap_by_value(number: str) -> str:
    whole, _, part = number.partition(".")
    part = part.rstrip("0")
    return (whole.lstrip("0") or "0") + (f".{part}" if part else "")


def overlap_pieces(value: str) -> tuple[str, ...]:
    found: list[str] = []
    plain = nfkc(CITATION.sub("", value)).casefold()
    plain = re.sub(r"(?<=\d),(?=\d{3}(?!\d))", "", plain)
    for token in re.findall(rf"[{CJK}]+|\d+(?:\.\d+)?|[^\W\d_{CJK}]+", plain):
        if token[0].isdecimal():
            found.append(overlap_by_value(token))
        elif re.match(f"[{CJK}]", token):
            found += [token[i : i + 2] for i in range(len(token) - 1)] or [token]
        elif token not in overlap_judge._FUNCTION_WORDS:
            found.append(token[:5])
    return tuple(found)


def extractive_sentences(value: str) -> list[str]:
    ends = r"(?<=[。！？!?])|(?<=[.!?])(?=\s)|\n+"
    return [s.strip() for s in re.split(ends, value) if s.strip()]


def extractive_bigrams(value: str) -> set[str]:
    letters = [c for c in nfkc(value).casefold() if c.isalnum()]
    return {a + b for a, b in pairwise(letters)}


UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u3005-\u3007\u3040-\u30fa\u30fc-\u30ff"
    "\u31f0-\u31ff\u3400-\u9fff\uac00-\ud7ff\uf900-\ufaff\U00020000-\U0003ffff"
)


def answers_by_value(number: str) -> str:
    minus, digits = number.startswith("-"), number.lstrip("-").replace(",", "")
    whole, _, decimals = digits.partition(".")
    decimals = decimals.rstrip("0")
    value = (whole.lstrip("0") or "0") + (f".{decimals}" if decimals else "")
    return f"-{value}" if minus and value != "0" else value


_WHOLE = r"(?:[0-9]{1,3}(?:,[0-9]{3})+(?![0-9])|[0-9]+)"
_POINT_FIRST = r"(?<![\w.])\.[0-9]+(?!\.?[0-9])"
_MINUS = r"(?:(?<![0-9a-z)\]%])(?<![0-9].)-)?"
ANSWERS_NUMBER = rf"{_MINUS}(?:(?<![0-9]\.){_WHOLE}\.[0-9]+(?!\.?[0-9])|{_WHOLE}|{_POINT_FIRST})"


def answers_character(character: str) -> str:
    if unicodedata.category(character) == "Cf" or character in "\u2009\u202f":
        return ""
    if character.isdecimal():
        return str(unicodedata.decimal(character))
    numeric = unicodedata.numeric(character, None) is not None
    return f" {character} " if numeric and nfkc(character) != character else character


def answers_normalised(value: str) -> str:
    """The former rule, except that an en dash before a number is a minus, as it is today."""
    parted = re.sub("，(?![０-９]{3})", "， ", value).replace("–", "-")
    plain = nfkc("".join(map(answers_character, parted))).casefold()
    plain = CITATION_OF_ANSWERS.sub(" ", nfkc(plain).translate(answer_match.TWO_WAYS))
    plain = answer_match.to_digits(plain, False)
    token = (
        rf"(?s)(?P<number>{ANSWERS_NUMBER})|[{UNSPACED}]"
        rf"|(?P<word>[^\W\d_{UNSPACED}]+)|[%‰°$€£¥+#]"
    )
    if not any(character.isalnum() for character in plain):
        return ""
    found = re.finditer(token, plain)
    return " ".join(answers_by_value(m["number"]) if m["number"] else m[0] for m in found)


def refusals_plain(value: str, citation: re.Pattern[str]) -> str:
    plain = citation.sub(" ", nfkc(value).casefold())
    plain = refusals._BLANKS.sub(" ", plain.translate(refusals._MARKS | refusals.SIMPLIFIED))
    return refusals._LABEL.sub("", plain.strip())


def refusals_sentences(value: str) -> list[str]:
    end = (
        r"[。!?;\n]+|\.(?=\s|$)"
        r"|,?\s*(?:但是?|不過|然而|可是|只是,|ただし|しかし|けれども|\b(?:but|however)\b),?"
        r"|(?<=[んすたいだる])が、"
    )
    parts = (part.strip() for part in re.split(end, refusals_plain(value, CITATION_OF_ANSWERS)))
    return [part for part in parts if part]


def places_numbers(value: str, number: str) -> bool:
    whole = re.compile(rf"(?<!\d){re.escape(text_evened(number))}(?!\d)")
    return any(map(whole.search, (nfkc(value), text_evened(value))))


def corpus_name(file: Path) -> str:
    stem = unicodedata.normalize("NFC", file.stem)
    return re.sub(r"[^\w.-]+", "_", stem).strip("_.") or "document"


def file_of(value: str) -> Path:
    """Return a file that is named by a text; a name must not be empty."""
    return Path(f"{value.replace('/', '') or 'a'}.pdf")


PAIRS: dict[str, tuple[Callable[[str], object], Callable[[str], object]]] = {
    "text.evened": (text_evened, text.compact),
    "text.trigrams": (
        lambda value: {run for run in text_trigrams(value) if len(run) == 3},
        lambda value: text.ngrams(text.compact(value), 3),
    ),
    "claims._key": (claims_key, text.claim_key),
    "claims._script": (claims_script, script),
    "overlap_judge.pieces": (overlap_pieces, overlap_judge.pieces),
    "extractive.sentences_of": (extractive_sentences, text.quotable_sentences),
    "extractive.bigrams": (
        extractive_bigrams,
        lambda value: text.ngrams(text.letters(value), 2),
    ),
    "answer_match.normalise": (answers_normalised, answer_match.normalise),
    "refusals.sentences": (
        refusals_sentences,
        lambda value: text.statements(refusals_plain(value, text.CITATION)),
    ),
    "grades.folded": (lambda value: value.strip().casefold(), text.fold_name),
    "corpus._name": (
        lambda value: corpus_name(file_of(value)),
        lambda value: corpus._name(file_of(value)),
    ),
}
"""Where a definition stood -> that definition, and the one of today."""


def test_there_are_texts_of_both_test_sets() -> None:
    """The comparisons below are over hundreds of texts, and not over an empty list."""
    assert len(texts()) > 700
    assert all(len(pages(name)) >= 3 for name in NAMES)


@pytest.mark.parametrize("name", PAIRS)
def test_old_and_new_agree_on_every_text(name: str) -> None:
    """No key, label or score of the shipped test sets moves with the definition."""
    old, new = PAIRS[name]

    different = [value for value in texts() if old(value) != new(value)]

    assert different == []


def test_claims_are_suspect_as_before() -> None:
    """No claim of the replies or references is compared otherwise with a passage or a claim.

    The one definition for claims leaves out more final marks than `suspects` did, so only a claim
    that ends in one of `!;,、` could be found in a passage that goes on after it.
    """
    claims = [claim for answer in answers() for claim in text.sentences(answer)]
    old_pages = [suspects_even(page) for name in NAMES for page in pages(name)]
    new_pages = [text.claim_key(page) for name in NAMES for page in pages(name)]

    assert len(claims) > 100
    for claim in claims:
        old, new = suspects_even(claim), text.claim_key(claim)
        assert suspects_bigrams(claim) == text.ngrams(new, 2)
        assert [old in page for page in old_pages] == [new in page for page in new_pages]


@pytest.mark.parametrize("name", NAMES)
def test_old_and_new_find_the_same_quotes(name: str) -> None:
    """Each quote and each of its numbers is found on the same pages as before."""
    lines = (ROOT / name / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    places = [place for line in lines for place in json.loads(line).get("evidence", [])]
    quotes = [place["quote"] for place in places if place.get("quote")]

    assert len(quotes) > 5
    for quote in quotes:
        numbers = re.findall(r"\d+(?:[.,]\d+)*", quote)
        for page in pages(name):
            assert text.covers(page, quote) == text_covers(page, quote)
            for number in numbers:
                assert text.holds_number(page, number) == places_numbers(page, number)


@pytest.mark.parametrize("name", NAMES)
def test_documents_are_read_as_before(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The one class of scripts without blanks joins the same lines as the three before it."""
    from harness.sources.pdf import text_lines

    today = pages(name)
    han = (
        r"\u2e80-\u2fdf\u2ff0-\u2fff\u3001-\u303f\u3040-\u30ff\u3105-\u312f\u31a0-\u31ff\u3400-\u4dbf"
        r"\u4e00-\u9fff\uf900-\ufaff\uff01-\uff65\U00020000-\U0003ffff"
    )
    wide = r"[\u2e80-\u30ff\u3400-\u9fff\uf900-\ufaff\uff01-\uff60\U00020000-\U0003ffff]"
    letter = r"[\u3040-\u30ff\u3400-\u9fff]"
    gap = rf"(?<=[{han}])[ \t\u00a0\u2000-\u200a\u202f\u3000]+(?=[{han}])"
    monkeypatch.setattr(corpus, "_GAP", re.compile(gap))
    monkeypatch.setattr(text_lines, "WIDE", re.compile(wide))
    for attribute, blank in (("SPACED", " "), ("CLOSED", "")):
        pattern = rf"{letter}{blank}[0-9A-Za-z]|[0-9A-Za-z]{blank}{letter}"
        monkeypatch.setattr(text_lines, attribute, re.compile(pattern))
    pdf.read_pdf.cache_clear()
    pages.cache_clear()

    assert pages(name) == today

    pdf.read_pdf.cache_clear()
    pages.cache_clear()


def test_fold_and_compact_can_be_repeated() -> None:
    """What is compared may have been folded before: nothing changes the second time."""
    for value in texts():
        folded = text.compact(value)
        assert text.compact(folded) == folded


@pytest.mark.parametrize(
    ("one", "other"),
    [("1,234.50", "1234.5"), ("007", "7"), ("-0.0", "0"), ("18.0", "18"), ("-1.50", "-1.5")],
)
def test_equal_numbers_have_one_spelling(one: str, other: str) -> None:
    """Numbers are compared by value."""
    assert text.shortest_number(one) == text.shortest_number(other) == other


def test_different_numbers_stay_different() -> None:
    """A zero that counts is kept."""
    assert len({text.shortest_number(n) for n in ("1.05", "1.5", "105", "10.5", "-1.5", "0")}) == 6


def test_scripts_are_told_apart_by_their_classes() -> None:
    """Hangul is compared by characters with an answer, but kept in words by the overlap judge."""
    classes = {name: re.compile(f"[{getattr(text, name)}]") for name in CLASSES}

    found = {
        character: [name for name, of in classes.items() if of.match(character)]
        for character in "あア々国한。　aก"
    }

    letters = ["HAN_KANA", "WITHOUT_BLANKS", "CHARACTER_TOKENS"]
    assert found == {
        "あ": ["HIRAGANA", "KANA", *letters],
        "ア": ["KANA", *letters],
        "々": ["HAN", *letters],
        "国": ["HAN", *letters],
        "한": ["HANGUL", "CHARACTER_TOKENS"],
        "。": ["WITHOUT_BLANKS"],
        "　": [],
        "a": [],
        "ก": ["CHARACTER_TOKENS"],
    }


CLASSES = ("HIRAGANA", "KANA", "HAN", "HANGUL", "HAN_KANA", "WITHOUT_BLANKS", "CHARACTER_TOKENS")


def test_chinese_sentences_are_all_kept() -> None:
    """Stops of either width end a sentence, and the last needs none."""
    assert text.sentences("塔高27公尺。1931年啟用！真的嗎？是的") == [
        "塔高27公尺。",
        "1931年啟用！",
        "真的嗎？",
        "是的",
    ]


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("Rate 1.05. Next 2.5!", ["Rate 1.05.", "Next 2.5!"]),
        ("See Fig. 3 by J. Smith et al. in the annex. Then go.", 2),
        ("他說：「是。」然後離開。", ["他說：「是。」", "然後離開。"]),
        ("It fell [1]. It rose.[2] End", ["It fell [1].", "It rose.[2]", "End"]),
        ("- one\n- two\n\n---\n1. three", ["one", "two", "three"]),
        ("What?No", ["What?No"]),
        ("本当？はい", ["本当？", "はい"]),
        ("27", ["27"]),
        ("", []),
        ("。！？", []),
    ],
)
def test_sentences(written: str, expected: list[str] | int) -> None:
    """Points in numbers, names and marks end no sentence; list marks and rules are none."""
    found = text.sentences(written)
    assert (len(found) if isinstance(expected, int) else found) == expected


def test_sentences_hold_every_letter_and_digit() -> None:
    """No letter or digit is lost between two sentences."""
    written = "A. 27.5 m (approx. 90 ft). 是嗎?是。\n* b) 第3章；「完」\nDr. No. 5"
    letters = [c for c in written if c.isalnum()]
    assert [c for s in text.sentences(written) for c in s if c.isalnum()] == letters


@pytest.mark.parametrize(
    "names",
    [
        ["ctx_k2", "ctx_k4", "ctx_k9", "ctx_k10", "ctx_k16"],
        [f"q{n}" for n in range(1, 13)],
        ["2024", "a", "a1", "b"],
    ],
)
def test_names_sort_as_people_count(names: list[str]) -> None:
    """k10 comes after k9, and q12 after q2."""
    shuffled = [*names[1::2], *names[::2]]

    assert sorted(shuffled, key=text.natural) == names


@pytest.mark.parametrize(
    ("requested", "answered", "same"),
    [
        ("gpt-4o", "gpt-4o-2024-08-06", True),
        ("gpt-4o-2024-08-06", "gpt-4o", True),
        ("gpt-4o-2024-08-06", "gpt-4o-2024-11-20", False),
        ("gpt-4", "gpt-4-0613", True),
        ("gpt-4", "gpt-4-1106-preview", True),
        ("gpt-4", "gpt-4.1", False),
        ("gpt-4o", "gpt-4o-mini", False),
        ("llama3.1", "llama3.1:latest", True),
        ("llama3.1:latest", "llama3.1", True),
        ("llama3.1", "llama3.1:70b", False),
        ("qwen2.5:7b", "qwen2.5:14b", False),
        ("meta-llama/Llama-3.1-8B", "llama-3.1-8b", True),
        ("llama-3.1-8b", "/models/Llama-3.1-8B.gguf", True),
        ("llama-3.1-8b", r"C:\models\llama-3.1-8b-Q4_K_M.gguf", True),
        ("claude-3-5-sonnet-latest", "claude-3-5-sonnet-20241022", True),
        ("claude-3-5-sonnet", "claude-3-5-haiku-20241022", False),
        ("deepseek/deepseek-r1:free", "deepseek/deepseek-r1", True),
        ("gemini-1.5-pro", "models/gemini-1.5-pro-002", True),
        ("asked-model", "other-model", False),
    ],
)
def test_names_of_one_model(requested: str, answered: str, same: bool) -> None:
    """An alias and what it stands for are one model; another size, series or date is not."""
    assert text.same_model(requested, answered) is same


def test_numbers_are_numbers() -> None:
    """Only real numbers order a sweep: neither text nor a switch."""
    assert [text.as_number(v) for v in (4, 0.5, "4", True, None)] == [4.0, 0.5, None, None, None]


def test_no_other_module_normalises_texts() -> None:
    """NFKC is applied by `fold`, except by two steps that are not comparisons of whole texts.

    Cleaning composes half-width kana only, and the match of answers keeps apart numbers that NFKC
    would join (10² is not 102).
    """
    harness = Path(text.__file__).parent
    found = {
        str(file.relative_to(harness))
        for file in harness.rglob("*.py")
        if '"NFKC"' in file.read_text(encoding="utf-8")
    }

    assert found == {"text.py", "sources/corpus.py", "metrics/answer_match.py"}


@pytest.mark.parametrize("mark", [0x200B, 0x200E, 0x2028, 0x2060, 0x2067, 0x61C, 0xE0041])
def test_what_cannot_be_seen_is_printed_escaped(mark: int) -> None:
    """Zero widths, directions, line separators and hidden tags of a name are shown as escapes."""
    assert text.visible(f"a{chr(mark)}b") == f"a{ascii(chr(mark))[1:-1]}b"
