"""The languages that prompts exist in, under the names that people give them."""

from harness.errors import ConfigError, unknown

NAMES: dict[str, tuple[str, ...]] = {
    "en": ("english", "en-us", "en-gb"),
    "ja": ("japanese", "ja-jp", "jp", "日本語"),
    "zh_hant": (
        *("zh", "chinese", "zh-tw", "zh-hk", "zh-mo", "zh-hant", "zh-hant-tw", "zht"),
        *("traditional chinese", "中文", "繁體中文", "正體中文"),
    ),
    "zh_hans": (
        *("zh-cn", "zh-sg", "zh-hans", "zh-hans-cn", "zhs"),
        *("simplified chinese", "简体中文"),
    ),
}
"""Language -> its other names. `zh` and `chinese` alone do not tell the script: they mean
Traditional Chinese, the language of the shipped study; write `zh_hans` for Simplified."""


def language(name: str) -> str:
    """Return the language that is meant, as its prompt folder is called.

    >>> language("ZH-TW"), language("Chinese"), language("zh_Hans"), language("Japanese")
    ('zh_hant', 'zh_hant', 'zh_hans', 'ja')
    >>> language("klingon")
    Traceback (most recent call last):
    ...
    harness.errors.ConfigError: unknown judge language 'klingon'; known: en, ja, zh_hans, zh_hant
    """
    spelling = name.strip().casefold().replace("_", "-")
    for known, others in NAMES.items():
        if spelling in (known.replace("_", "-"), *others):
            return known
    raise ConfigError(unknown(name, NAMES, "judge language"))
