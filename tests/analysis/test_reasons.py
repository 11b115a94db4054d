import pytest

from harness.analysis.reasons import contradicts, stated_label
from harness.judge.chat_judge import LABELS
from harness.judge.prompt import languages, prompt
from harness.records import Label

TALL = "The tower is 27 metres tall."


@pytest.mark.parametrize(
    "reason",
    [
        "The passage does not mention this, so it is not supported.",
        "The text says nothing about bicycles.",
        "The text does not mention bicycles.",
        "No mention of the year is made.",
        "The claim cannot be verified from the text.",
        "There is no evidence for it.",
        "The text gives the height, but the year isn't supported.",
        "The text neither states nor rules it out, so the claim is unsupported.",
        "文中沒有提到腳踏車。",
        "資料未說明年份，因此陳述不成立。",
        "段落並未提及，無法確認。",
        "文中没有提到自行车。",
        "资料没有依据，无法得知。",
        "自転車については何も書かれていない。",
        "文章には記載がなく、裏付けられない。",
        "本文に言及がないため、主張は支持されていない。",
    ],
)
def test_a_reason_that_the_text_does_not_support_it(reason: str) -> None:
    """It contradicts the label entailed, and no other."""
    assert stated_label(reason, TALL) is Label.UNKNOWN
    assert contradicts(Label.ENTAILED, reason, TALL)
    assert not contradicts(Label.UNKNOWN, reason, TALL)
    assert not contradicts(Label.CONTRADICTED, reason, TALL)


@pytest.mark.parametrize(
    "reason",
    [
        "The text states the height, so the claim is supported.",
        "This follows: five is under seven, so it is entailed.",
        "It is not mentioned in the first line, but the second confirms it.",
        "The passage directly supports it.",
        "The claim is clearly true.",
        "The text says so in its second line.",
        "It does state the height.",
        "文中確實寫著27公尺",
        "资料的确说明了高度。",
        "確かに本文に27メートルと書かれている。",
        "文字直接支持這項陳述。",
        "由文中可推得，因此成立。",
        "文字说明了这一点，该陈述正确。",
        "この主張は本文から導ける。",
        "本文によって裏付けられている。",
    ],
)
def test_a_reason_that_the_text_supports_it(reason: str) -> None:
    """It contradicts the labels unknown and contradicted."""
    assert stated_label(reason, TALL) is Label.ENTAILED
    assert not contradicts(Label.ENTAILED, reason, TALL)
    assert contradicts(Label.UNKNOWN, reason, TALL)
    assert contradicts(Label.CONTRADICTED, reason, TALL)


@pytest.mark.parametrize(
    "reason",
    [
        "The text says 30 metres, which contradicts the claim.",
        "It is inconsistent with the second line.",
        "The claim is false.",
        "文中說只在三月，與陳述矛盾。",
        "与原文不符。",
        "本文の数字と食い違っている。",
    ],
)
def test_a_reason_that_the_text_contradicts_it(reason: str) -> None:
    """It contradicts the labels entailed and unknown."""
    assert stated_label(reason, TALL) is Label.CONTRADICTED
    assert [contradicts(label, reason, TALL) for label in (-1, 0, 1)] == [False, True, True]


@pytest.mark.parametrize(
    "reason",
    [
        "",
        "r",
        "55% shared, without 27",
        "Children under seven travel free, and five is under seven.",
        "It sails from March to October only.",
        "The text says 27 metres.",
        "The text says 1988, not 1990.",
        "The text does not explicitly say so, but 27 metres is the height of the tower.",
        "Although the year is not mentioned, the century is the nineteenth.",
        "The text does not contradict the claim.",
        "It reads 'the bridge is not supported by pillars'.",
        "文中說「沒有提到」。",
        "文中雖未明確寫出，五歲未滿七歲。",
        "並無矛盾。",
        "未滿七歲免費，五歲未滿七歲。",
        "明記されていないが、5歳は7歳未満である。",
        "矛盾しない。",
        "7歳未満は無料とあり、5歳は7歳未満である。",
    ],
)
def test_a_reason_that_concludes_nothing(reason: str) -> None:
    """A reason without a conclusion contradicts no label."""
    assert stated_label(reason, TALL) is None
    assert not any(contradicts(label, reason, TALL) for label in (-1, 0, 1))


@pytest.mark.parametrize("language", languages())
def test_the_reasons_of_the_prompts(language: str) -> None:
    """No worked example of a judge's prompt contradicts itself."""
    for kind, labels in LABELS.items():
        for given, reply in prompt(language, kind).examples:
            for item, row in zip(given.get("claims", [{}, {}]), reply["verdicts"], strict=True):
                label = labels[row["verdict"]]
                assert not contradicts(label, row["reason"], item.get("claim", ""))


@pytest.mark.parametrize(
    ("claim", "reason"),
    [
        ("The bridge is not supported by pillars.", "It says that it is not supported by pillars."),
        ("The report does not mention costs.", "The report does not mention costs."),
        ("資料沒有提到費用。", "文中沒有提到費用。"),
        ("There is no evidence of damage.", "No evidence of damage was found."),
    ],
)
def test_the_claim_s_own_words_are_no_conclusion(claim: str, reason: str) -> None:
    """A claim about what something lacks is entailed by a text that says so."""
    assert not contradicts(Label.ENTAILED, reason, claim)
