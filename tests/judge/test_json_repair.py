import json
from typing import Any

import pytest

from harness.judge.json_repair import JsonRepairer


def mended(text: str) -> Any:
    written = JsonRepairer(text, 0).run()
    return json.loads(written, strict=False) if written else None


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("{'a': 'it isn\\'t', 'b': \"it's\"}", {"a": "it isn't", "b": "it's"}),
        ("{'a': 'it isn't so', 'b': 1}", {"a": "it isn't so", "b": 1}),
        ("['it isn't so', 'b']", ["it isn't so", "b"]),
        ("{“a”: “b”, ‘c’: ＂d＂}", {"a": "b", "c": "d"}),
        ('{“a": 1}', None),
        ("{a: b, c_1: 否}", {"a": "b", "c_1": "否"}),
        ('{"a": "say "b" now", "c": 1}', {"a": 'say "b" now', "c": 1}),
        ('{"a": "x "b", "c": "d" e"}', {"a": 'x "b', "c": 'd" e'}),
        ('{"a": "the set {"b"} is"}', None),
        ('{"a": "say "b""}', {"a": 'say "b"'}),
        ('{"a": "say ""b"" now"}', None),
        ('["say "b" now"]', None),
        ('{"a "b": 1}', None),
        ('{"a": "' + '"b' * 41 + '"}', None),
        (r'{"a": "\alpha \_ \d \" \n \u4e00 \u12",}', {"a": '\\alpha \\_ \\d " \n 一 \\u12'}),
        ('{"a": "one\ntwo\0"}', {"a": "one\ntwo\0"}),
    ],
)
def test_strings(text: str, value: object) -> None:
    """A string ends at the quote behind which the text goes on as it must; else it is refused."""
    assert mended(text) == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (
            "[True, FALSE, None, null, +7, 7., -1.5e3, １]",
            [True, False, None, None, 7, 7, -1500, 1],
        ),
        ("{'a': ('b', ('c',))}", {"a": ["b", ["c"]]}),
        ("｛“a”：［1，2、3］｝", {"a": [1, 2, 3]}),
        ('{"a": 1 // one\n /* two */ // three\n, "b": 2}', {"a": 1, "b": 2}),
        ('[{"a": 1} {"a": 2}\n{"a": 3},]', [{"a": 1}, {"a": 2}, {"a": 3}]),
        ('{"a": [1]], "b": [{"c": 2}}]}', {"a": [1], "b": [{"c": 2}]}),
        ('{"a": [1}', None),
        ("[see below]", None),
        ("[sic]", None),
        ("{a, b}", None),
        ("{1: 2}", None),
        ("[1 2]", None),
        ('["a" "b"]', None),
        ('{"a": "b" "c"}', None),
        ('{"a" 1}', None),
        ('{"a": 1, 2}', None),
        ('{"a": yes no}', None),
        ("[,]", None),
        ("{:}", None),
        ("[1; 2]", None),
    ],
)
def test_structure(text: str, value: object) -> None:
    """Python's and full-width writing, comments, doubled brackets and commas are mended."""
    assert mended(text) == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": "b"', {"a": "b"}),
        ('{"a": {"b": [1]\n```', {"a": {"b": [1]}}),
        ('{"a": "b" <|im_end|>', {"a": "b"}),
        ('{"a": 1', None),
        ("{a: entail", None),
        ('{"a": "say "b" ', None),
        ('{"a": "say "b" now"', None),
        ('{"a": "b", ', None),
        ('{"a": "b", "c', None),
        ('{"a": "b", "c"', None),
        ('{"a": "b", "c":', None),
        ('{"a": "b\\', None),
        ('["a"', None),
        ('{"a": ["b", "c"', None),
        ("{", None),
    ],
)
def test_text_that_ends_early(text: str, value: object) -> None:
    """Only closing braces may be missing; where anything else may be, the value is cut."""
    repairer = JsonRepairer(text, 0)
    written = repairer.run()
    assert (json.loads(written) if written else None) == value
    assert repairer.cut


def test_prose_is_told_from_json() -> None:
    """A bracket behind which no key was read may be prose; one with a key was meant as JSON."""
    for text, keyed in (("{a, b}", False), ("[0, 1)", False), ('{"a": b c}', True)):
        repairer = JsonRepairer(text, 0)
        assert repairer.run() is None
        assert (repairer.keyed, repairer.cut) == (keyed, False)


def test_long_value_is_given_up() -> None:
    """Beyond MOST_TOKENS nothing is mended, and the value counts as JSON that cannot be read."""
    repairer = JsonRepairer("[" + "1," * 20_000 + "]", 0)
    assert repairer.run() is None
    assert repairer.keyed
    assert repairer.pos == 20_000
