"""Repair of nearly valid JSON: one pass, no backtracking, no guess between two readings.

Only these faults are repaired:

- quotes: single, curly and full-width ones, bare keys, one-word values, a quote inside an
  object's value that was not escaped, a backslash before a character that needs none;
- Python: True, False, None, tuples; numbers written +7 or 7.;
- punctuation: full-width, a trailing comma before a closing bracket, a missing comma between
  objects, a doubled closing bracket, missing closing braces at the very end; comments.

The json-repair package is no substitute: it always returns something. It silently closes a
truncated list, joins values that a comma should separate, and its time grows faster than the text.
"""

import re

MOST_TOKENS = 20_000
"""Tokens up to which a value is repaired; sixty verdicts with reasons have 1,000."""

_INNER_QUOTES = 40
"""Unescaped quotes in one string up to which it is still clear what is a string."""

# Each part that repeats is possessive and ends at a character that it cannot hold, or is
# bounded: the patterns look ahead from every quote, and no text may make that slow.
_SPACE = r"[\s\u200b-\u200d\u2060\ufeff]*+"
_COMMENT = r"(?://[^\n]{0,300}+(?=\n|\Z)|/\*[^*]{0,300}+\*/)"
_GAP = rf"{_SPACE}(?:{_COMMENT}{_SPACE})?+"
_QUOTES = "\"'＂＇“”„‟‘’‚‛"
_KEY = rf"[{_QUOTES}]?+[^{_QUOTES}:：,，{{}}\[\]\n]{{1,60}}+[{_QUOTES}]?+{_SPACE}(?:[:：]|\Z)"
_END = r"(?:\Z|```|<\|)"

_SKIPPED = rf"{_SPACE}(?:{_COMMENT}{_SPACE})*+"
_AT_END = re.compile(_SKIPPED + _END)
_NEXT = re.compile(rf"{_SKIPPED}(.)", re.DOTALL)
_CLOSES_KEY = re.compile(rf"{_GAP}(?:{_END}|[:：])")
_CLOSES_VALUE = re.compile(rf"{_GAP}(?:{_END}|[}}\])｝］]|[,，、]{_GAP}(?:{_END}|[}}｝]|{_KEY}))")
_CLOSES_ITEM = re.compile(rf"{_GAP}(?:{_END}|[}}\])｝］,，、])")
_WORD = re.compile(r"[^\W\d]\w{0,60}+(?!\w)")
_NUMBER = re.compile(r"[+-]?+(?:\d++(?:\.\d*+)?+(?:[eE][+-]?+\d++)?+|Infinity)")
_ESCAPE = re.compile(r"(?P<valid>\\(?:[\"\\/bfnrt]|u[0-9a-fA-F]{4}))|\\.?|\"", re.DOTALL)

_PLAIN = str.maketrans("｛｝［］：，、０１２３４５６７８９", "{}[]:,,0123456789")
_CLOSER = {"{": "}", "[": "]", "(": ")"}
_LITERALS = {"true": "true", "false": "false", "null": "null", "none": "null", "nan": "NaN"}
_APOSTROPHES = "'‘’‚‛＇"
_ALIKE = {quote: group for group in ('"', "'", "＂", "＇", "“”„‟", "‘’‚‛") for quote in group}
_STOPS = {quote: re.compile(rf"\\.|[{group}]", re.DOTALL) for quote, group in _ALIKE.items()}
_AGAIN = {quote: re.compile(rf"{_SPACE}[{group}]") for quote, group in _ALIKE.items()}


class JsonRepairer:
    """Rewrites the value whose opening bracket is at `pos` in `text`.

    >>> JsonRepairer("Verdict: {'verdict': True, 'reason': None,} as asked", 9).run()
    '{"verdict":true,"reason":null}'
    """

    def __init__(self, text: str, pos: int) -> None:
        self.text = text
        self.pos = pos
        """How far the text was read; where `run` returned None, the position of the fault."""
        self.keyed = False
        """A key and its colon were read, so this is not a bracket in prose."""
        self.cut = False
        """The text ended before the last bracket was closed."""
        self._out: list[str] = []
        self._owed: list[str] = []
        """The closing brackets that are still missing, as they are written in the text."""
        self._last = ":"
        """The token before: a bracket, comma or colon, or k(ey), s(tring), n(umber), w(ord)."""
        self._guessed = False
        """A quote was taken as part of a string although it was not escaped."""

    def run(self) -> str | None:
        """Return the value as JSON and set `pos` behind it; None where it cannot be read."""
        for _ in range(MOST_TOKENS):
            following = self._next()
            if not following:
                break
            if not self._token(following):
                return None
            if not self._owed:
                # A guessed quote is accepted only where the reply ends: `{"a": "b "c"} d"}`.
                return "".join(self._out) if not self._guessed or not self._next() else None
        else:
            self.keyed = True
            return None
        # Where the text ends early, only braces can be missing for certain: a list may have
        # had more items, a number or a bare word more characters.
        self.cut = True
        if self._guessed or set(self._owed) != {"}"} or self._last not in ("}", "]", "s"):
            return None
        return "".join([*self._out, *self._owed])

    def _next(self) -> str:
        """Go to the next token; return its first character, or nothing where the reply ends."""
        if _AT_END.match(self.text, self.pos):
            return ""
        following = _NEXT.match(self.text, self.pos)
        assert following  # not at the end, so there is a character
        self.pos = following.start(1)
        return following[1].translate(_PLAIN)

    def _token(self, mark: str) -> bool:
        """Read the token that begins with `mark`; False where it is not allowed here."""
        if mark in _STOPS:
            return self._string(mark)
        if found := _NUMBER.match(self.text, self.pos):
            self.pos = found.end()
            return self._value(found[0].translate(_PLAIN).lstrip("+").rstrip("."), "n")
        if found := _WORD.match(self.text, self.pos):
            self.pos = found.end()
            return self._word(found[0])
        self.pos += 1
        if mark in _CLOSER:
            return self._open(mark)
        if mark in "}])":
            return self._close(mark)
        return mark in ",:" and self._separate(mark)

    def _open(self, mark: str) -> bool:
        if mark == "{" and self._last == "}" and self._owed[-1] != "}":
            self._separate(",")
        if not self._value("[" if mark == "(" else mark, mark):
            return False
        self._owed.append(_CLOSER[mark])
        return True

    def _close(self, mark: str) -> bool:
        if mark != self._owed[-1]:
            return mark == self._last  # the same bracket twice: the second closes nothing
        if self._last == ",":
            self._out.pop()
        self._owed.pop()
        return self._put("]" if mark == ")" else mark, mark)

    def _separate(self, mark: str) -> bool:
        """Write a colon behind a key, a comma behind a value."""
        if self._last not in (("k",) if mark == ":" else ("}", "]", ")", "s", "n", "w")):
            return False
        self.keyed |= mark == ":"
        return self._put(mark, mark)

    def _key_is_due(self) -> bool:
        return self._owed[-1:] == ["}"] and self._last in ("{", ",")

    def _value_is_due(self) -> bool:
        return self._last in ("[", "(", ",", ":") and not self._key_is_due()

    def _value(self, written: str, token: str) -> bool:
        """Write a value where one is expected."""
        return self._value_is_due() and self._put(written, token)

    def _put(self, written: str, token: str) -> bool:
        self._out.append(written)
        self._last = token
        return True

    def _word(self, word: str) -> bool:
        """Write a bare word: a key, a literal or an object's value; in a list it is prose."""
        if self._key_is_due():
            return self._put(f'"{word}"', "k")
        if literal := _LITERALS.get(word.lower()):
            return self._value(literal, "w")
        return self._last == ":" and self._value(f'"{word}"', "w")

    def _string(self, quote: str) -> bool:
        """Read up to the quote behind which the text continues as it must after a string."""
        key = self._key_is_due()
        if not key and not self._value_is_due():
            return False
        in_list = not key and self._last != ":"
        closes = _CLOSES_KEY if key else _CLOSES_ITEM if in_list else _CLOSES_VALUE
        start = end = self.pos + 1
        inner = 0
        while stop := _STOPS[quote].search(self.text, end):
            end = stop.end()
            if stop[0][0] == "\\" or (quote in _APOSTROPHES and _in_word(self.text, end - 1)):
                continue
            if closes.match(self.text, end):
                self.pos = end
                plain = _ESCAPE.sub(_as_json, self.text[start : end - 1])
                return self._put(f'"{plain}"', "k" if key else "s")
            inner += 1
            if key or in_list or inner > _INNER_QUOTES or self._parts_strings(quote, end, closes):
                return False
            self._guessed = True
        self.cut = not inner
        return False

    def _parts_strings(self, quote: str, end: int, closes: re.Pattern[str]) -> bool:
        """Whether another quote follows, as where the comma between two strings is missing."""
        again = _AGAIN[quote].match(self.text, end)
        return again is not None and (
            again.end() > end + 1 or not closes.match(self.text, again.end())
        )


def _in_word(text: str, at: int) -> bool:
    """Return whether there are letters on both sides, as around the apostrophe of isn't."""
    return text[at - 1].isalpha() and text[at + 1 : at + 2].isalpha()


def _as_json(escape: re.Match[str]) -> str:
    """Return an escape as JSON has it; a backslash that escapes nothing is a backslash."""
    found = escape[0]
    if found == '"':
        return '\\"'
    if found == "\\'":
        return "'"
    return found if escape.lastgroup else "\\" + found
