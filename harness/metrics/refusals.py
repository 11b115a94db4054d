"""Does a response decline to answer and do nothing else: clause patterns in four languages.

A response is read clause by clause. It is a refusal where some clause refuses and no other clause
answers: apologies, "based on the documents" and "please see ..." do not count, everything else is
content. So "The documents do not say. It is 42." is not a refusal, and neither is a right answer
with a remark on what the documents lack.

The patterns match half-width lower-case text without quotation marks. Chinese wordings are written
in Traditional characters; `SIMPLIFIED` maps those of a Simplified response to these. They are
compiled on first use: that takes longer than all imports of this package.
"""

import re

from harness.text import CITATION, HIRAGANA, fold, statements

SIMPLIFIED = str.maketrans(
    "并没资讯说记载写给显数据无寻关对应该为约认这处仅涵盖请议问询规现实个语档图节献来源试谢里类录纪叙过难确断务从网",
    "並沒資訊說記載寫給顯數據無尋關對應該為約認這處僅涵蓋請議問詢規現實個語檔圖節獻來源試謝裡類錄紀敘過難確斷務從網",
)

ZH_SOURCE = (
    "(?:文件|資料|文中|文章|文本|文檔|文獻|內容|段落|上下文|報告|來源|檔案|資訊|信息|本文|原文"
    "|圖中|圖表|表中|片段|材料|書中|文字|知識庫|搜尋結果|檢索結果)"
)
ZH_NOT = "(?:沒有?|並未|尚未|從未|未有?|並無|無|不)(?:曾|直接|明確|具體|特別|有|能)*"
ZH_SAY = (
    "(?:提到|提及|提供|說|記載|載明|列出|列明|記錄|紀錄|寫|涉及|包含|包括|給出|指出|描述|顯示|公布"
    "|公佈|交代|討論|談到|敘述|明示|標示|標明|告知|回答|答案|相關|關於|這方面|足夠|任何)"
)
ZH_WHAT = "(?:資料|資訊|信息|訊息|內容|答案|數據|記載|說明|記錄|紀錄|敘述|描述|文件|依據)"
ZH_ABOUT = "(?:任何|足夠|充足|充分|相關|具體|明確|直接|關於|有關|對應|這方面|此|該|的|所需)+"
ZH_UNABLE = "(?:無法|不能|沒辦法|難以|無從|不足以)"

EN_SOURCE = (
    r"\b(?:documents?|context|passages?|texts?|sources?|materials?|information|articles?|reports?"
    r"|excerpts?|figures?|charts?|tables?|files?|snippets?|content|corpus|(?:search )?results?)\b"
)
EN_WHAT = r"(?:information|mention|data|details?|answers?|indication|reference|evidence|results?)\b"
EN_NOT = r"(?:\s?(?:not|n't)|not)"
EN_HOW = r"(?:\s(?:explicitly|directly|specifically|clearly|actually|seem to|appear to))*\s"
EN_SPEAK = (
    "say|state|mention|specify|tell|indicate|address|discuss|reveal|disclose|answer|report|describe"
)
EN_HOLD = "(?:provide|contain|include|give|offer|have|cover)"
EN_DO_NOT = rf"(?:do|does|did){EN_NOT}{EN_HOW}"
EN_DOES_NOT_SAY = (
    rf"{EN_DO_NOT}(?:{EN_SPEAK}|{EN_HOLD}(?= (?:any|the|an|enough|such|sufficient|that|this"
    r"|specific|details?|information|data|answer)\b))"
)
EN_HAS_NO = (
    r"\b(?:there (?:is|was|are|were)|contains?|provides?|has|have|find|found|offers?|includes?"
    r"|gives?) (?:no|not enough|insufficient)\b"
)
EN_SAID = r"(?:mentioned|provided|specified|stated|discussed|disclosed|indicated|answered)\b"
EN_HELD = r"(?:given|found|available|included|covered|reported|present|contained|described)\b"
EN_IS_NOT = rf"\b(?:is|are|was|were){EN_NOT}{EN_HOW}(?:be )?"
EN_CANNOT = (
    r"(?:can(?:not|'t| not)|could(?: not|n't)|(?:un|not )able to|do(?: not|n't)|did(?: not|n't))"
)
EN_LEARN = r"(?:know|find|answer|determine|say|tell|provide|locate|see|confirm|give|infer|identify)"

JA_SOURCE = "(?:資料|文書|文章|情報|文脈|コンテキスト|本文|文献|記事|ドキュメント|報告書|抜粋)"
JA_WHAT = (
    "(?:記載|言及|記述|説明|情報|回答|答え|該当|掲載|内容|手がかり"
    "|(?:示され|書かれ|述べられ|触れられ|含まれ|記され|載っ|明記され)て)"
)
JA_NOT = (
    "(?:ありません|ございません|いません|おりません|ない|なく|無い|なし"
    "|見当たりません|見当たら|見つかりません|見つから)"
)
JA_UNABLE = "(?:ません|ない|かねます|ず)"

REFUSALS = "|".join(
    (
        # The documents do not say.
        rf"^.{{0,12}}{ZH_SOURCE}.{{0,15}}?{ZH_NOT}{ZH_SAY}",
        rf"^.{{0,12}}{ZH_SOURCE}[裡中內面]{{0,2}}(?:並|都|也)?(?:沒有|無)(?:這個|答案)?$",
        rf"^.{{0,30}}{ZH_NOT}(?:在|於|出現在|出現於).{{0,12}}{ZH_SOURCE}",
        rf"^[^,]{{0,40}}{EN_SOURCE}[^,]{{0,40}}\b{EN_DOES_NOT_SAY}",
        # "They" may be anybody: what they do not hold must be something to be read.
        rf"^(?:they|it)\s{EN_DO_NOT}(?:{EN_SPEAK}|{EN_HOLD}\b[^,]{{0,30}} {EN_WHAT})",
        rf"{JA_WHAT}.{{0,12}}{JA_NOT}",
        # It is not mentioned.
        rf"^(?:並|也|都)?(?:沒有?|並未|未|無)(?:提到|提及|說明|記載|載明|{ZH_WHAT}$)",
        rf"^.{{0,80}}{EN_IS_NOT}{EN_SAID}",
        rf"^.{{0,80}}{EN_WHAT}.{{0,80}}{EN_IS_NOT}{EN_HELD}",
        rf"^.{{0,80}}{EN_IS_NOT}{EN_HELD}.*{EN_SOURCE}",
        rf"^not (?:{EN_SAID}|{EN_HELD})|^unknown$|^n/a$",
        # There is no information about it.
        r"^.{0,6}(?:沒有?|無|並[無未]|缺[乏少]|未能?)(?:找到|提供|包含|發現)?"
        rf"{ZH_ABOUT}.{{0,20}}{ZH_WHAT}",
        rf"^.{{0,40}}{EN_HAS_NO}.{{0,30}}(?!evidence){EN_WHAT}",
        # That there is no evidence may be the answer, where it is not the documents' evidence.
        rf"^(?=.*{EN_SOURCE}).{{0,40}}{EN_HAS_NO}.{{0,30}}\bevidence\b",
        rf"^(?:no|not enough|insufficient) (?:\w+ )?{EN_WHAT}",
        # I cannot find, answer or know it.
        rf"^.{{0,8}}(?:找不到|查不到|查無|沒有?[找查]到|未能?找到|尋找不到|{ZH_UNABLE}找到)",
        rf"{ZH_UNABLE}(?:直接|準確|確切|確實|為[您你]|予以|提供)*"
        "(?:回答|作答|[答回]覆|解答|答案|這個資訊)",
        rf"^.{{0,6}}{ZH_SOURCE}.{{0,15}}(?:{ZH_UNABLE}|看不出)",
        rf"^.{{0,6}}{ZH_UNABLE}(?:由|從|自|根據|依|在).{{0,12}}{ZH_SOURCE}",
        r"^(?:我|本人|目前|恐怕)?(?:並|也|還)?(?:不知道|不清楚|不曉得|不確定|無[法從]得知)",
        rf"\b(?:i|we)(?: am| are|'m|'re)? ?(?:\w+ly )?{EN_CANNOT} (?:\w+ly )?(?:{EN_LEARN}"
        r"|have (?:enough|any|that|the|access|sufficient|info))",
        rf"\b(?:{EN_CANNOT}|(?:im|not )possible to) (?:be )?answer",
        rf"\b(?:{EN_CANNOT}|(?:im|not )possible to) (?:be )?(?:{EN_LEARN}|found).*{EN_SOURCE}",
        "(?:見つかり|見つけられ|見当たり|[わ分判]かり|[わ分]から|存じ|答えられ"
        rf"|回答(?:し|いたし|[はが]?でき)|お答え(?:し|いたし|[はが]?でき)){JA_UNABLE}",
        rf"^.{{0,6}}{JA_SOURCE}.{{0,20}}(?:特定|判断|確認|把握)(?:すること)?[はが]?でき{JA_UNABLE}",
    )
)
"""A clause that refuses."""

ANSWERS = "|".join(
    (
        r"答案(?:應該?)?[是為]|應該[是為]|(?:大約|約|估計)[是為有]?\s*\d|推測|據我所知",
        r"^(?:一般來說|一般而言|一般認為|通常|事實上|實際上|根據(?:我的|一般|常識))",
        r"\banswer (?:is|would be|should be)\b(?! not)",
        r"\bas far as i know\b|\bmy (?:best )?guess\b",
        r"\bi (?:think|believe|guess|assume|estimate)\b|\bbased on (?:my|general)\b",
        r"\bit is (?:likely|probably)|\b(?:approximately|roughly|about|around|estimated at) \d",
        r"^(?:so )?(?:generally|typically|usually|in (?:general|fact)|actually|probably)\b",
        r"おそらく|たぶん|一般的?に(?:は|言)|約\s*\d|思われ|考えられ|推測|答えは|実際に",
    )
)
"""A clause that gives an answer, whatever comes before it."""

ASIDES = "|".join(
    (
        r"^(?:請|建議|如果|如需|如有|若|[您你]可以?|歡迎|謝謝|感謝|需要"
        r"|可以?(?:查|參考|洽|詢))\D*$",
        rf"{ZH_SOURCE}.{{0,6}}[僅只]有?(?:提[到及供]|包[含括]|涵蓋|列出|說明|記載|討論|介紹)",
        r"^(?:please|if you|you (?:may|might|can|could|should)|let me know|feel free|consider"
        r"|for (?:more|further)|i(?: would|'d)? (?:recommend|suggest|be happy)|thank)\D*$",
        rf"^[^,]{{0,30}}(?:{EN_SOURCE}|\bthey|\bit) only (?:cover|mention|contain|provide"
        r"|discuss|include|give|describe|list|address|refer|state|talk)",
        r"^(?:もし|必要|詳しく|詳細|他の|別の|ご)\D*$|ください(?:ませ)?$|お願い(?:し|いたし)ます$",
        rf"{JA_SOURCE}.{{0,20}}(?:のみ|だけ)[がをにで]?.{{0,8}}(?:記載|含|述べ|言及|説明|示)",
    )
)
"""A clause that refers the reader elsewhere, or says what the documents are about instead."""

LEAD_INS = "|".join(
    (
        r"^(?:很|非常|十分|真的)?(?:抱歉|對不起|不好意思|遺憾|可惜)",
        rf"^(?:根據|依據|依照|按照|從|在|就|以|基於).*(?:{ZH_SOURCE}|中|裡|內|來看|而言|來說)$",
        r"^(?:關於|有關|至於|針對|對於|因此|所以|因為|由於|故)",
        r"^(?:so |very |i'm |i am |we're |we are |my )*(?:sorry|afraid|apologies)\b",
        r"^unfortunately\b",
        rf"^(?:based on|according to|from|in|given|within|after|looking at) .*{EN_SOURCE}",
        r"^(?:regarding|concerning|as for|with regard|therefore|thus|hence|so|because|since)\b",
        r"^(?:大変|誠に|まことに)?(?:申し訳|すみません|恐れ入り|残念)",
        r"(?:について|に関して|ため|ので|は)$",
        rf"{JA_SOURCE}.{{0,8}}(?:では|から|中に|内に|によると|に基づくと|を見る限り)$",
    )
)
"""A clause that may come before a refusal."""


_LABEL = re.compile(r"^(?:答案|回答|答覆|答|answer|response|a)\s*:\s*")
_MARKS = str.maketrans({"’": "'", "‘": "'"} | dict.fromkeys('「」『』“”"*_`#>()[]'))
_BLANKS = re.compile(r"[^\S\n]+")
_COMMA = re.compile(r",\s*")
_JAPANESE_COMMA = re.compile(r"[,、]\s*")
_CONCESSION = re.compile(r"^(?:while|although|(?:even )?though|whereas)\b")
_HIRAGANA = re.compile(f"[{HIRAGANA}]")


def is_refusal(text: str) -> bool:
    """Return whether the text declines to answer and says nothing else.

    English, Japanese, Traditional and Simplified Chinese are known.

    >>> is_refusal("資料中沒有提到。"), is_refusal("I'm sorry, but the documents do not say.")
    (True, True)
    >>> is_refusal("資料中沒有提到，但一般約為 5%。"), is_refusal("彰化縣，文件未提及原因。")
    (False, False)
    """
    plain = CITATION.sub(" ", fold(text))
    plain = _BLANKS.sub(" ", plain.translate(_MARKS | SIMPLIFIED))
    plain = _LABEL.sub("", plain.strip())
    comma = _JAPANESE_COMMA if _HIRAGANA.search(plain) else _COMMA
    readings = [_reading(comma.split(statement)) for statement in statements(plain)]
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
