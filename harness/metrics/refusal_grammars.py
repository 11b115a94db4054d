"""How English, Chinese and Japanese refuse: the roles of words, and the sequences that refuse.

The patterns match half-width lower-case text without quotation marks. Chinese is written in
Traditional characters; `SIMPLIFIED` maps those of a Simplified response to these.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from harness.text import HAN, HAN_KANA

SIMPLIFIED = str.maketrans(
    "无没办难从晓确寻来帮够现并暂时体准实详细别关于对应这为里内给资该处档献报图书识库结检册范围讯数据记载说录纪叙线节谈写盖"
    "显布讨论标诉认断获预测询们个问题约计际么请议欢谢参务仅绍遗针虽尽话户观还过",
    "無沒辦難從曉確尋來幫夠現並暫時體準實詳細別關於對應這為裡內給資該處檔獻報圖書識庫結檢冊範圍訊數據記載說錄紀敘線節談寫蓋"
    "顯佈討論標訴認斷獲預測詢們個問題約計際麼請議歡謝參務僅紹遺針雖儘話戶觀還過",
)


@dataclass(frozen=True, eq=False)
class Grammar:
    """How one language refuses. `harness.metrics.refusals` reads it."""

    roles: Mapping[str, str]
    """Pattern of words -> the roles that stand for them, none where they mean nothing here.
    Earlier patterns win; any other word is `x`."""
    word: str
    """Pattern of any other word."""
    comma: str
    """Pattern between two clauses."""
    refuses: tuple[str, ...]
    """Sequences of roles from the start of a clause: `a/b` is one of two, `a?` may be missing, `*`
    is any number of roles, `..` any but negations, past tenses and `mention` and `hold`, and `$` is
    the end of the clause."""
    answers: str
    """Start of a clause that gives an answer, whatever comes before it."""
    resumes: str
    """Start of a clause that gives an answer after a clause that refuses."""
    beside: str
    """Start of a clause that refers the reader elsewhere or says what the documents are about."""
    leads: str
    """Start of a clause that may come before a refusal."""


ENGLISH = Grammar(
    roles={
        r"(?:i|we)?(?: am| are|'m|'re)? ?(?:so |very )?(?:sorry|afraid)(?: that| but| to say)?": "",
        r"(?:information|data|details|context) (?:given|provided|supplied|at hand)"
        r"|(?:given|provided|available|supplied|retrieved) information|search results?"
        r"|knowledge base": "source",
        r"not (?:enough|sufficient|much)|insufficient": "not",
        r"(?:fail|fails|failed) to|without": "not",
        r"(?:outside|beyond) (?:of )?(?:the|my|its) (?:scope|knowledge|capabilities)": "beyond",
        r"(?:need|require) (?:some )?(?:more|further|additional)": "have not",
        r"(?:un|not )able to|(?:im|not )possible to|(?:difficult|hard) to": "not can",
        r"lacks|lack(?! of)|omits?": "not hold",
        r"(?:is|are) silent": "not hold",
        r"unsure|unaware|unfamiliar": "not sure",
        r"unclear|uncertain": "not clear",
        r"unspecified|unstated|undisclosed|unmentioned|unanswered|unanswerable": "not said",
        r"unknown|missing|absent": "not known",
        r"declined?|refuse": "not can",
        r"irrelevant|unrelated|not relevant": "irrelevant",
        r"nothing": "not fact",
        r"can ?not|can't|could(?:n't| not)": "can not",
        r"(?:do|does)(?:n't| not)": "do not",
        r"did(?:n't| not)": "did not",
        r"(?:is|are)(?:n't| not)|'(?:s|m|re) not": "is not",
        r"(?:was|were)(?:n't| not)": "was not",
        r"haven't|hasn't": "have not",
        r"there's|there is|there are": "there is",
        r"i'm": "i is",
        r"we're": "we is",
        r"i've": "i have",
        r"we've": "we have",
        r"i'(?:d|ll)": "i",
        r"it's|that's": "it is",
        r"a|an|the|any|some|specific|exact|such|enough|sufficient|more|much|further|explicit|direct"
        r"|relevant|definitive|detailed|real-time|either|also|yet|just|at all|here|own|respective"
        r"|again|to|\w+ly|so|and|or|therefore|thus|hence|however|as such|seems?|appears? to"
        r"|with certainty|(?:provided|given|supplied|retrieved|available|above)"
        r"(?= (?:documents?|contexts?|contents?|passages?|texts?|sources?|materials?|articles?"
        r"|reports?|excerpts?|search))": "",
        r"documents?|contexts?|passages?|texts?|sources?|materials?|articles?|reports?|excerpts?"
        r"|figures?|charts?|tables?|files?|snippets?|contents?|corpus|pages?|paragraphs?|manuals?"
        r"|chapters?|sections?|transcripts?|extracts?": "source",
        r"no|not|never|none|neither|nor": "not",
        r"information|info|data|details?|indication|references?|knowledge|idea|clues?|hint"
        r"|records?|guidance|recommendations?|anything|something": "fact",
        r"way": "way",
        r"evidence": "proof",
        r"answers?|questions?|query|request": "question",
        r"i": "i",
        r"we": "we",
        r"it|they|them|this|that|these|those": "it",
        r"there": "there",
        r"can|could|able|possible": "can",
        r"is|are|am|be|being|remains?": "is",
        r"was|were|been": "was",
        r"have|has|had|possess": "have",
        r"do|does": "do",
        r"did": "did",
        r"says?|tells?|provides?|gives?|offers?|specify|specifies|identify|identifies|explains?"
        r"|shows?|address|addresses|names?|describes?|discuss|help|share|clarify|confirms?"
        r"|respond|comment|answer": "say",
        r"(?<!united )states|state(?! parks?| of| govern| law| police)|mentions?|indicates?"
        r"|reveals?|discloses?|refers?": "mention",
        r"contains?|includes?|covers?|lists?|go into|makes?|touch": "hold",
        r"know|see|find|found|determine|locate|infer|assist|verify|deduce|establish|advise|access"
        r"|conclude|ascertain|deny|recommend|speak|guess|estimate|suggest|retrieve|guarantee"
        r"|predict": "find",
        r"sure|aware|familiar|certain": "sure",
        r"clear": "clear",
        r"mentioned|provided|specified|stated|discussed|disclosed|indicated|addressed": "said",
        r"given|available|included|covered|reported|present|contained|described|listed|shown"
        r"|located|answered|answerable|determined|inferred|identified|confirmed|verified|established|deduced"
        r"|known|derived": "known",
        r"appear|occur|exist": "occur",
        r"who|what|when|where|why|how|which|whether|if|whose": "wh",
        r"about|regarding|concerning|on|for|of|as": "of",
        r"in|from|within|with|by|anywhere|across|based": "in",
    },
    word=r"[\w'-]+",
    comma=r",\s*|:\s+",
    refuses=(
        # The documents do not say; none of them mentions it; they make no mention of it.
        ".. source .. do/did? not can? say/hold/mention/have/question",
        ".. source .. have/hold/mention/say not fact/hold/mention/proof/question",
        "of? not of? x? of? source .. say/hold/mention/have/question",
        "not of? it do? say/hold/mention",
        "not fact in? source say/hold/mention",
        "not mention is/was * source",
        "not mention of *",
        "it do not mention/question",
        "it do not hold wh/$",
        "it do not say/have/hold * fact/question",
        "it do not say wh/$",
        "it say/hold/mention not fact/hold/mention",
        # I cannot find it, do not know it, have no information.
        "i/we x? x? can/do/did/have/is/was? not can? is? say/find/have/sure/question/fact",
        "i/we x? x? have not fact/hold/mention/question/proof/x",
        "i/we x? x? can? find/say not fact/hold/mention/question",
        "i x? x? can not",
        "not can say/find/question",
        "can not is? say/find/question/known",
        # There is no information about it.
        "there is not way say/find",
        "x? there is not x? x? fact/hold/mention/question/source",
        "x? there is/was not .. fact/hold/mention/proof/question * in .. source",
        "not x? fact/question known/find? $",
        "not x? x? fact .. is said of *",
        "not x? fact of *",
        "not x? x? fact/question .. is/was/can known/said/find of? $",
        "not x? x? fact/question .. is/was/can known/said/find .. source",
        "not source/fact say/said/question",
        # It is not mentioned, not available, not in the documents.
        ".. is not is? said",
        ".. was not said .. source",
        ".. is/was not is? known? in .. source",
        ".. is/was not is? known .. in .. source",
        "x? x? it/fact/question .. is not is? known",
        ".. do not occur * source",
        "not said",
        "not find/known in .. source",
        "fact of? .. was not said $",
        "source is irrelevant",
        "not known $",
        ".. beyond",
        # It is unclear, it cannot be determined, the question cannot be answered.
        "it? is? not clear wh/$",
        "it? is? not clear in source",
        "it is not can? find/say",
        "it/question .. can not is known/find",
        ".. can not is known/find .. in source",
        ".. question .. is not said/known",
    ),
    answers=(
        r"(?:the )?answer (?:is|would be|should be)\b(?! not| unclear| unknown)|as far as i know"
        r"|(?:my|the) (?:best )?guess|i (?:think|believe|guess|assume|estimate)\b"
        r"|.*\b(?:not|never) (?:\w+ )?(?:available|known|recorded|kept|collected|published)"
        r" (?:until|till|before|since|prior to) (?:\w+ )?\d"
        r"|based on (?:my|general)\b|it is (?:likely|probably)"
        r"|(?:so )?(?:generally|typically|usually|in (?:general|fact)|actually|probably)\b"
    ),
    resumes=(
        r"(?:and )?(?:it|he|she|they)\b"
        r"|and (?:the|an?|its)\b.*\b(?:is|are|was|were|has|had|put|\w+ed)\b"
        r"|.*\b(?:approximately|roughly|about|around|estimated at) \d"
    ),
    beside=(
        r"please|if you|you (?:may|might|can|could|should)|let me know|feel free|consider\b"
        r"|for (?:more|further)|i(?: would|'d)? (?:recommend|suggest|be happy)|thank|would you"
        r"|(?:is|are) there any|do you|could you|can you|may i"
        r"|(?:the|your|this)(?: given)? questions? (?:asks|is|refers|seems)"
        r"|(?:[\w ]{0,30}\b(?:documents?|contexts?|passages?|texts?|articles?|sources?)|they|it)"
        r"(?: do| does)?(?: only| \w+ly| instead)* (?:mention|discuss|cover|describe|focus"
        r"|talk|provide (?:[\w ]+ )?information|contain (?:[\w ]+ )?information)(?:e?s)?\b"
        r"(?! that\b)|[\w ]{0,30}\b(?:documents?|contexts?|passages?|texts?) (?:are|is) (?:\w+ly )?"
        r"(?:about|in|related)\b"
        r"|[^,]{0,30}\b(?:documents?|contexts?|passages?|texts?|they|it) only\b"
    ),
    leads=(
        r"(?:so |very |i am |i'm |i |my |we are )*(?:sorry|afraid|apologi[sz]e|apologies)\b"
        r"|(?:unfortunately|regrettably|no|note|again|explanation|however|therefore|thus|hence|instead)$"
        r"|(?:based|according|from|in|given|within|after|looking|working|as|regarding|concerning"
        r"|with|therefore|so|because|since|to|if|while|(?:even )?though|although|whereas)\b"
    ),
)

CHINESE_SOURCE = (
    "文件|資料|文中|文章|文本|文檔|文獻|內容|段落?|上下文|報告|來源|檔案|本文|原文|圖中|圖表|表[中格]"
    "|片段|材料|書中|文字|知識庫|搜尋結果|檢索結果|手冊|知識範圍"
)

CHINESE = Grammar(
    roles={
        "不足以|無法|不能|沒辦法|難以|無從|未能(?!找到)": "not can",
        "不(?:太|大|是很)?(?:知道|清楚|曉得|確定|了解)": "not know",
        "[找查尋]不到|查無|沒有?[找查]到|未能?找到|無法找到": "not find",
        "看不出來?": "not see",
        "[隻只]字[未不]提|未提$": "not mention",
        "幫不上": "not help",
        "不足|不夠": "not enough",
        "[未不]出現在?|沒有?出現在?": "not occur",
        "不在": "not in",
        "無關": "irrelevant",
        "不[明詳]|n/a": "unknown",
        "超出": "beyond",
        "沒有?|並未|尚未|從未|[皆均都]?未曾?|有?並?無|缺乏|缺少|不": "not",
        CHINESE_SOURCE: "source",
        "資訊|信息|訊息|答案|數據|記載|說明|記錄|紀錄|敘述|描述|線索|細節|依據|數字": "fact",
        "提到|提及|談到|載明|列明|寫明?": "mention",
        "提供|給出|說|列出|涉及|包含|包括|涵蓋|指出|顯示|公[布佈]|交代|討論|明示|標[示明]|回答|作答"
        "|[答回]覆|解答|告[知訴]": "say",
        "得知|確[定認]|判[斷定]|找到|推斷|獲[取得]|預測|查詢|知道|理解|實時更新": "find",
        "範圍": "scope",
        "所以|因此|故|恕": "",
        "目前|現有|暫時?|直接|明確|具體|準確|確切|確實|詳細|清楚|特別|任何|相關|足夠|充足|充分|關於"
        "|有關|對應|這方面|所需|這部分|並|也|都|皆|均|所|太|很|曾|尚|還|仍|真的|據此|恐怕|[為向][您你]|予以|的"
        "|中|裡|內|面|上述|上面|以上|各|給定|附|已知|[提所]供的(?=[文資段上材內])|該|此處?|這裡|其"
        "|[,:\\s]": "",
        "我們?|本人": "i",
        "這個?|此": "it",
        "問題|題目": "question",
        "[在於從由自]|根據|依據": "in",
    },
    word=rf"[{HAN}]|[^\W{HAN}]+",
    comma=r",\s*",
    refuses=(
        # The documents do not say.
        ".. source .. not say/mention/find/fact/source/see",
        ".. source .. not .. fact/source $",
        ".. source .. not can .. say/find/see",
        ".. source .. irrelevant",
        ".. source not it? question? $",
        "x? x? source/fact not enough $",
        "in fact/source not can say/find",
        ".. not in/occur .. source/scope",
        ".. in source not occur",
        ".. beyond .. scope",
        # It is not mentioned; there is no information.
        "not mention",
        "i? not say? find? .. fact/source $",
        "i? not fact x? x? say/find",
        # I cannot find, answer or know it.
        "in? source? i? it? question? not find/know/see",
        "it .. i not find/know/see",
        ".. question .. not can say/find",
        "i? it? question? not can say/find",
        "it? question? not can .. source .. say/find",
        "i not can * say/find/fact",
        "it? i? x? not help",
        "unknown $",
    ),
    answers=(
        r".*答案(?:應該?)?[是為]|.*應該[是為]|.*(?:大約|約|估計)[是為有]?\s*\d|.*推測|.*據我所知"
        r"|(?:一般來說|一般而言|一般認為|通常|事實上|實際上|根據(?:我的|一般|常識))"
    ),
    resumes=r"(?:那麼|它|他們?|她|其中|共|\d)",
    beside=(
        r"(?:請|建議|如果|如需|如有|若|[您你]可以?|歡迎|謝謝|感謝|需要|可以?(?:查|參考|洽|詢)"
        r"|這?可能(?:是|需要|您|你)|我的(?:目標|目的|任務)|我旨在|希望|在[您你])(?:\D|\d{4}年)*$"
        rf"|.*(?:{CHINESE_SOURCE}).{{0,6}}[僅只]有?"
        r"(?:提[到及供]|包[含括]|涵蓋|列出|說明|記載|討論|介紹)"
        r"|(?:這個?|該|此|您的|你的)問題[^是為]*$"
    ),
    leads=(
        r"(?:我?很|非常|十分|真的)?(?:抱歉|對不起|不好意思|遺憾|可惜)"
        r"|(?:根據|依據|依照|按照|從|在|就|以|基於).*(?:中|裡|內|來看|而言|來說|資料|文件|資訊|信息|內容|段落|上下文)$"
        r"|(?:關於|有關|至於|針對|對於|因此|所以|由於|故|作為|雖然|儘管)"
    ),
)

JAPANESE = Grammar(
    roles={
        "(?:提供|提示)された情報|与えられた情報|検索結果|情報源": "source",
        "(?:わか|分か|判)り(?:ません|かねます)|(?:わか|分か)らない|(?:わか|分か)って(?:おり|い)ません"
        "|存じ(?:上げ)?(?:ません|ない)|知りません|不明(?:です|でございます|$)|確かではありません"
        "|はっきりしません|(?:何|なん)とも言えません": "unknown",
        "見(?:つかり|当たり)(?:ません|ない)(?:でした)?|見つから(?:ない|ず)": "missing",
        "でき(?:ません|ない|かねます|ず)(?:でした)?|られ(?:ません|ない)|取れません|出せません"
        "|かねます|困難|難しい|不可?能": "cannot",
        "控え(?:させ|ます)": "cannot",
        "範囲外": "beyond",
        "不足|欠け": "short",
        "(?:ありま|ございま|いま|おりま)せん|い?ない|なく|無い|なし(?!に)": "not",
        "(?:示され|書かれ|述べられ|触れ(?:られ)?|明?記(?:載)?され|載っ|言及され|答え)て": "shown",
        "(?:含まれ|掲載され|扱われ|持ち合わせ|記録され|明らかにされ|提供され)て": "held",
        "資料|文書|文章|文脈|コンテキスト|本文|原文|文献|記事|ドキュメント|報告書|抜粋|段落|文中"
        "|テキスト|(?:提示された|この)表": "source",
        "記載|言及|記述|説明(?!書)|情報|該当|掲載|内容|手がかり|数値|詳細": "fact",
        "根拠|証拠|データ": "proof",
        "お?答え|回答|返答|お手伝い": "reply",
        "特定|判断|確認|把握|断定|読み|導き|推測|求める": "judge",
        "かどうか|[のる誰か]か(?=[はを])": "wh",
    },
    word=rf"[{HAN_KANA}]|[^\W{HAN_KANA}]+",
    comma=r",\s*|(?<!は)、\s*",
    refuses=(
        "* fact/reply x? x? x? x? not/missing/cannot/shown/held not?",
        "* shown not",
        "* source/fact * held not",
        "* source * proof x? not",
        "* source * missing/cannot/short",
        "* fact x? x? short",
        "* missing $",
        "* unknown $",
        "* reply .. cannot",
        "* wh x? judge .. cannot",
        "judge .. cannot x? x? $",
        "* beyond",
    ),
    answers=(
        r".*(?:おそらく|たぶん|一般的?に(?:は|言)|約\s*\d|思われ|考えられ|答えは(?!.*(?:ません|ない))|実際に|誰も)|彼"
    ),
    resumes=r"(?:それは|答えは|ただ)",
    beside=(
        r"(?:もし|必要|詳しく|詳細|より|他の|別の|ご)\D*$|.*(?:ください(?:ませ)?|お願い(?:し|いたし)ます)$"
        r"|.*(?:資料|文書|文章|情報|文脈|コンテキスト|本文|記事|報告書).{0,20}(?:のみ|だけ)[がをにで]?"
        r".{0,8}(?:記載|含|述べ|言及|説明|示|扱)"
    ),
    leads=(
        r"(?:大変|誠に|まことに)?(?:申し訳|すみません|恐れ入り|残念)"
        r"|.*(?:について|に関して|ため|ので|は|では|から|中に|内に|によると|に基づくと|を見る限り)$"
        r"|.*(?:資料|文書|文章|文脈|本文)を確認しました$"
    ),
)
