"""What the reason of a verdict says about its label, by fixed wordings in four languages.

A conclusion ("so it is not supported") decides, the last one if there are several. Without one, a
remark on what the text lacks ("it does not mention bicycles") decides where nothing stands
against it: no remark on what the text says, no "but", no "not explicitly". Quotations, and
wordings that the claim itself has, say nothing. Everything else is left undecided.
"""

import re
from enum import Enum

from harness.records import Label
from harness.text import fold


class Remark(Enum):
    """What a wording says."""

    HOLDS = "the text supports the claim"
    FAILS = "the text does not support the claim"
    OPPOSES = "the text contradicts the claim"
    SAYS = "the text says something"
    LACKS = "the text does not say something"
    NOTHING = "neither"


_EN_NOT = r"(?:not|n't|never)"
_EN_DO_NOT = r"(?:does|do|did)(?: not|n't)"
_EN_HOW = r"(?:\s\w+ly|\sbe|\sbeen)*\s"
_EN_PROVED = r"(?:supported|entailed|backed|confirmed|verified|substantiated|implied|established)"
_EN_PROVE = r"(?:support|entail|confirm|imply|back|verify|establish|substantiate)"
_EN_SAID = r"(?:mentioned|stated|specified|said|discussed|addressed|found|included|described)"
_EN_SAY = (
    r"(?:say|state|mention|specify|give|contain|provide|include|discuss|address|indicate|name)"
)
_ZH_NOT = r"(?:[沒没]有?|[並并]?未|不|[無无]法|不能|未能)(?:得到|被|[獲获]得?|有|足以)*"
_ZH_PROVE = (
    r"(?:支持|支[撐撑]|[證证][實实]|[確确][認认]|推得|推出|推[論论]|推[斷断]"
    r"|[蘊蕴]含|成立|佐[證证])"
)
_ZH_SAY = (
    r"(?:提到|提及|[說说]明|[記记][載载]|[寫写][著着明]?|[說说]|列出|指出|提供|[談谈]到|[載载]明)"
)
_ZH_GROUND = r"(?:依[據据]|根[據据]|佐[證证]|[證证][據据])"
_JA_NO = r"(?:ない|ません|おらず|れず|できず|なし)"
_JA_PROVE = r"(?:裏付け|支持|確認|推論|含意|導[かきけ]|読み取|立証)"
_JA_SAY = r"(?:言及|記載|記述|書かれ|触れ|述べ|示され|明記|含まれ)"

_WORDINGS = (
    (
        Remark.NOTHING,
        rf"{_EN_DO_NOT} contradict|\b(?:no|without) contradiction|not contradicted",
        r"(?:不|[沒没]有?|[並并]?[無无]|未)(?:相|互相)?矛盾",
        r"矛盾(?:し|は|が|も)?(?:ない|ません|なく)",
    ),
    (
        Remark.FAILS,
        rf"{_EN_NOT}{_EN_HOW}{_EN_PROVED}|\bunsupported|{_EN_DO_NOT}{_EN_HOW}{_EN_PROVE}\b",
        rf"(?:cannot|can't|can not){_EN_HOW}(?:{_EN_PROVED}|inferred|determined|concluded|derived)",
        rf"{_EN_DO_NOT} follow|neither (?:{_EN_PROVE}|{_EN_SAY})s nor",
        r"\bno (?:\w+ )?(?:support|evidence|basis)\b",
        r"\b(?:is|remains) (?:unknown|unclear|unverified)",
        rf"{_ZH_NOT}(?:直接|明[確确])?{_ZH_PROVE}|缺乏(?:{_ZH_GROUND}|支持)",
        rf"(?:[沒没]有|[無无])(?:任何)?{_ZH_GROUND}|[無无][從从法](?:得知|判[斷断])",
        rf"{_JA_PROVE}\w{{0,6}}?{_JA_NO}",
        r"(?:根拠|裏付け)[がはも]?(?:示されて)?(?:ない|なし|ありません|いない)",
        r"\b(?:irrelevant|unrelated|unhelpful)\b|not (?:useful|helpful|relevant)",
        rf"{_EN_DO_NOT} help\b",
        r"[無无][關关]|[無无]助|[沒没]有(?:[幫帮]助|答案)|不含答案|無関係|関係[がは]?ない|役に立たない",
    ),
    (
        Remark.OPPOSES,
        r"\bcontradict(?:s|ed|ory|ing)?\b|\b(?:inconsistent|incompatible|conflicts) with\b",
        r"\bclaim is (?:false|wrong|incorrect)\b|矛盾|相反|不符|[牴抵][觸触]|に反する|食い違",
    ),
    (
        Remark.LACKS,
        rf"{_EN_DO_NOT}{_EN_HOW}{_EN_SAY}\b|{_EN_NOT}{_EN_HOW}{_EN_SAID}|\bsays nothing\b",
        r"\b(?:no mention|nothing (?:about|on|in)|silent (?:on|about)|no information)\b",
        rf"{_ZH_NOT}{_ZH_SAY}|[隻只]字未提|{_JA_SAY}\w{{0,6}}?{_JA_NO}|何も(?:書|述|言|触)",
    ),
    (
        Remark.HOLDS,
        rf"\b(?:is|are|was|were){_EN_HOW}{_EN_PROVED}\b|\b{_EN_PROVE}s\b|\b(?:implies|verifies)\b",
        r"\bclaim is (?:\w+ly )?(?:true|correct|accurate)\b|\b(?:it|this|which|claim) follows\b",
        rf"\b(?:matches|agrees with) (?:it|this|the claim)\b|\b(?:indeed|does) {_EN_SAY}s?\b",
        rf"\b{_EN_SAY}s so\b|(?:[確确][實实]|的[確确])\w{{0,2}}?{_ZH_SAY}",
        rf"確かに\w{{0,12}}?{_JA_SAY}",
        rf"{_ZH_PROVE}|(?:[陳陈]述|[說说]法|主[張张])(?:是)?(?:正[確确]|[屬属][實实]|[為为]真)",
        r"裏付け(?:られ[るて]|る|となる)|(?:支持|含意)(?:され|し|する)|導(?:ける|かれる)",
        r"\bis (?:useful|helpful|relevant)\b|\b(?:is|gives|contains|states) the answer\b",
        r"主張は正しい|有[幫帮]助|有助於|有助于|正是答案|包含答案|役に立つ|答えである|答えを含",
    ),
    (
        Remark.SAYS,
        rf"\b{_EN_SAY}s\b|\b(?:reads|shows|notes|reports|lists)\b",
        rf"\b(?:is|are|was){_EN_HOW}{_EN_SAID}|{_ZH_SAY}",
        rf"とある|と(?:書かれ|述べ|記載|明記)|{_JA_SAY}",
    ),
)
"""In the order in which they are tried at each place of a reason."""

_REMARK = re.compile(
    "|".join(f"(?P<{remark.name}>{'|'.join(wordings)})" for remark, *wordings in _WORDINGS)
)
_RESERVE = re.compile(
    r"\b(?:but|however|although|though|while|whereas|yet|still|nevertheless|explicitly|directly"
    r"|literally|exactly|verbatim|by name|only|follows|implicit\w*|infer\w*)\b"
    r"|但|不[過过]|然而|[雖虽]|[儘尽]管|仍|明[確确]|直接|字面|只是|推|しかし|ただし|ものの|けれど|が、|明示|直接"
)
_QUOTATION = re.compile(r"\"[^\"]*\"|“[^”]*”|「[^」]*」|『[^』]*』|(?<!\w)'[^']*'(?!\w)")

_LABELS = {
    Remark.HOLDS: Label.ENTAILED,
    Remark.FAILS: Label.UNKNOWN,
    Remark.OPPOSES: Label.CONTRADICTED,
}


def stated_label(reason: str, claim: str) -> Label | None:
    """Return the label that a reason gives to a claim; None where it does not tell.

    >>> stated_label("The passage does not mention this, so it is not supported.", "It is high.")
    <Label.UNKNOWN: 0>
    >>> stated_label("It names the year, which contradicts the claim.", "In 1990.").name
    'CONTRADICTED'
    >>> stated_label("The text does not explicitly say so, but five is under seven.", "It is free.")
    """
    text, own = _QUOTATION.sub(" ", fold(reason)), fold(claim)
    remarks = [
        Remark[str(found.lastgroup)] for found in _REMARK.finditer(text) if found[0] not in own
    ]
    concluded = [_LABELS[remark] for remark in remarks if remark in _LABELS]
    if concluded:
        return concluded[-1]
    if Remark.LACKS in remarks and Remark.SAYS not in remarks and not _RESERVE.search(text):
        return Label.UNKNOWN
    return None


def contradicts(label: int, reason: str, claim: str) -> bool:
    """Return whether a reason states another label than the one given.

    "Not supported" is no other label than contradicted: both say that the claim fails.
    """
    stated = stated_label(reason, claim)
    if stated is None or stated == label:
        return False
    return not (stated is Label.UNKNOWN and label == Label.CONTRADICTED)
