"""Text without characters that act on the place where it is shown."""

import re

ACTIVE = re.compile(
    r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ufeff\ud800-\udfff]"
)
"""Control characters, changes of writing direction, and halves of surrogate pairs."""


def plain(text: str) -> str:
    """Return the text with each active character as the sign for an unreadable one.

    >>> plain(chr(27) + "[31mred")
    '�[31mred'
    """
    return ACTIVE.sub("\ufffd", text)


def one_line(text: str) -> str:
    """Return plain text whose line ends and tabs are single spaces.

    >>> one_line("a  b" + chr(10) + " c")
    'a  b c'
    """
    return re.sub(r"\s*[\t\n\r\u2028\u2029]\s*", " ", plain(text)).strip()
