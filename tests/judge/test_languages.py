import pytest

from harness.errors import ConfigError
from harness.judge.prompt import FOLDER, NAMES, language


@pytest.mark.parametrize("name", ["Chinese", "chinese", "zh", "ZH-TW", "zh_hant", " zh-Hant "])
def test_traditional_chinese_has_many_names(name: str) -> None:
    """However it is spelt, Chinese without a script means Traditional Chinese (case E03)."""
    assert language(name) == "zh_hant"


@pytest.mark.parametrize(("name", "meant"), [("zh-CN", "zh_hans"), ("EN", "en"), ("JP", "ja")])
def test_other_languages(name: str, meant: str) -> None:
    """A region tells the script, and case does not matter."""
    assert language(name) == meant


def test_unknown_language_lists_the_choices() -> None:
    """A language without prompts is an error that names those with (case E03)."""
    with pytest.raises(ConfigError, match=r"klingon.*known: en, ja, zh_hans, zh_hant"):
        language("klingon")


def test_every_folder_of_prompts_has_a_name() -> None:
    """A folder of prompts that no name leads to would never be used."""
    assert {folder.name for folder in FOLDER.iterdir()} == set(NAMES)
