"""Declining to answer, in four languages, and what only looks like it."""

import re

import pytest

from harness.metrics import METRICS, is_refusal
from harness.metrics.evidence import Evidence
from harness.metrics.refusal_grammars import CHINESE, ENGLISH, JAPANESE, Grammar
from harness.metrics.refusals import roles
from harness.render import LANGUAGES, words
from tests.benchmarks.refusals import labelled, recognition

REFUSALS = {
    "en": [
        "The documents do not say.",
        "The document does not say.",
        "I don't know.",
        "No answer found.",
        "No information is provided regarding the cost.",
        "I'm sorry, but I cannot answer this question based on the provided context.",
        "Unfortunately, the provided passages do not contain information about rainfall in 2020.",
        "The context doesn't mention how many ducks, geese, or swans there are.",
        "There is no information about the number of deaths in the passages.",
        "The number of deaths is not mentioned in the document.",
        "Based on the given documents, I could not find the answer.",
        "No relevant information was found.",
        "Not mentioned.",
        "Answer: The documents do not say.",
        "The passages do not state the rate. Please consult the full report.",
        "It is not possible to determine the rate from the passages.",
        "The documents do not say what the likely cause is, so I cannot answer.",
        "**The documents do not say.**",
        "The documents do not say. [1]",
        "The documents do not say [2, 3].",
        "I am unable to find this information. The documents only cover 2016 to 2018.",
        "The information you are asking for isn\u2019t provided in the text.",
        "There is no evidence of this in the context.",
        "The passages contain no evidence that cats see ghosts.",
        "They do not include any details about the cost.",
        "While the passages do not say when, they do not mention the place either.",
        "Although the documents do not mention the cause, please see the report.",
        "I apologize, but I cannot provide an answer as the context does not mention this.",
        "None of the passages mention the painter.",
        "I'm sorry, but the information provided does not include the painter. "
        "Therefore, I cannot name them.",
        "There's no mention of a painter in the given passages.",
        "It is unclear from the text who painted the tower.",
        "I do not have specific information about the 走れメロス edition.",
    ],
    "zh_hant": [
        "資料中沒有提到。",
        "N/A",
        "恕我無法回答。",
        "文中未提。",
        "資料中沒有提到",
        "文件沒有提到。",
        "資料中沒有",
        "「資料中沒有。」",
        "文件裡面並沒有。",
        "根據目前的文件，我找不到相關資訊。",
        "很抱歉，我無法回答這個問題。",
        "抱歉，文件中並未提及 2020 年的數據，因此無法回答。",
        "在所提供的資料中，並未提及臺灣的研發支出。",
        "關於台北市的發生率，文件沒有說明。",
        "「資料中沒有提到。」",
        "無法從文件中得知。",
        "沒有相關資料。",
        "不知道。",
        "我不知道答案。",
        "資料中沒有提到，建議查閱官方網站。",
        "資料中未提供相關數據。請參考原始報告。",
        "文件只提到 2016 年到 2018 年的情形，沒有提到 2020 年。",
        "提供的資料不足以回答這個問題。",
        "答案：資料中沒有提到。",
    ],
    "zh_hans": [
        "资料中没有",
        "资料中没有提到。",
        "文件没有提到。",
        "根据目前的文件，我找不到相关信息。",
        "抱歉，我无法回答这个问题。",
        "在所提供的资料中，并未提及台湾的研发支出。",
        "没有相关资料。",
        "不知道。",
    ],
    "ja": [
        "確認できませんでした。",
        "特定することは困難です。",
        "資料では明らかにされていない。",
        "資料には記載がありません。",
        "この文書には書かれていません。",
        "申し訳ありませんが、提供された資料には記載がありません。",
        "その質問については、資料に情報が見つかりませんでした。",
        "わかりません。",
        "提供された情報からは回答できません。",
        "台北市の発生率は、資料に記載されていません。",
        "資料に記載がないため、お答えできません。",
        "該当する情報は見当たりません。詳しくは担当者にお問い合わせください。",
        "確かではありません。",
        "わかりかねます。",
        "資料に明確な記載はないものの、担当者にお問い合わせください。",
    ],
}

ANSWERS = {
    "en": [
        "Data is not available before 1990.",
        "Figures are not known until May 1931.",
        "",
        "The rate is 5 %.",
        "No cases were reported.",
        "Changhua, at 1.05. The documents do not mention the reason.",
        "Changhua had the highest rate, and the documents do not mention why.",
        "The documents do not say. However, it is about 5 %.",
        "The documents do not say, but the answer is 42.",
        "The passages do not mention it. The capital is Paris.",
        "The documents do not state it, generally 5 % is assumed.",
        "I believe it is 42, I cannot find it in the documents.",
        "The disability rate did not change.",
        "The method does not include children.",
        "People without a disability.",
        "There is no scientific evidence that cats can see ghosts.",
        "While there is no clear evidence that animals foresee earthquakes, some feel the tremors.",
        "However, they do not offer this option on their own website, so call the hotel.",
        "While the documents do not mention it, it is 42.",
        "Results were not available until 1931.",
        "No answer was given by the mayor.",
        'The suspect said "I don\'t know" when asked about the money.',
        "I do not have the list, it names Oslo.",
        "I do not have specific information on winter food. Nevertheless there are hot soups.",
    ],
    "zh_hant": [
        "彰化縣的發生率為 1.05。",
        "2016 年沒有死亡病例。",
        "沒有提供資料的縣市有三個。",
        "資料中沒有水患的縣市是台北。",
        "彰化縣最高，文件未提及原因。",
        "答案是彰化縣，文件未提及其他縣市。",
        "資料中沒有提到，但一般約為 5%。",
        "資料中沒有提到。答案應該是 42。",
        "文件沒有提到發生率，答案是 42。",
        "資料中沒有提到，不過根據我的了解，是彰化縣。",
        "根據文件，彰化縣最高。文件沒有提到原因。",
        "患者不知道自己感染。",
        "未能支持技術持續發展。",
        "民主國家減少投資、發展遲緩、未能支持技術持續發展。",
    ],
    "zh_hans": [
        "资料中没有提到，但一般约为 5%。",
        "未能支持技术持续发展。",
    ],
    "ja": [
        "1990年以前のデータはありません。",
        "委員会は原因を特定できなかった。",
        "影響はありません。",
        "発生率は5%です。",
        "資料には記載がありませんが、一般的には5%です。",
        "資料には記載がありません。おそらく5%です。",
        "彰化県が最も高く、理由は記載されていません。",
        "容疑者は金の行方を聞かれて「わかりません」と答えた。",
        "砂糖は含まれていません。",
        "正確な日付の記載はないものの、1802年の春とされています。",
    ],
}


def each(table: dict[str, list[str]]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("text", [text for texts in table.values() for text in texts])


@each(REFUSALS)
def test_declining_is_a_refusal(text: str) -> None:
    """A response that declines, with apologies or advice around it, is a refusal."""
    assert is_refusal(text)


@each(ANSWERS)
def test_an_answer_is_no_refusal(text: str) -> None:
    """A response that gives an answer is no refusal, even with the words of a refusal."""
    assert not is_refusal(text)


@pytest.mark.parametrize(
    ("clause", "grammar", "expected"),
    [
        ("none of the passages mention the painter", ENGLISH, "not of source mention x "),
        ("i have never found any data", ENGLISH, "i have not find fact "),
        ("資料中未提及塔高", CHINESE, "source not mention x x "),
        ("資料には記述が見当たりません", JAPANESE, "source x x fact x missing "),
    ],
)
def test_words_are_read_by_their_roles(clause: str, grammar: Grammar, expected: str) -> None:
    """The roles of the words decide, so other words of the same roles refuse alike."""
    assert roles(clause, grammar) == expected


@pytest.mark.parametrize(
    ("response", "answers", "answerable", "expected"),
    [
        ("It is unclear from the text who painted the tower.", (), False, 1.0),
        ("確かではありません。", (), False, 1.0),
        ("Results were not available until 1931.", (("1931",),), True, 1.0),
        ("No answer was given by the mayor.", (("no answer",),), True, 1.0),
    ],
)
def test_right_and_wrong_follow_the_reader(
    response: str, answers: tuple[tuple[str, ...], ...], answerable: bool, expected: float
) -> None:
    """A refusal is right where there is no answer; a negated answer is right where it is one."""
    known = Evidence(response_text=response, answers=answers, answerable=answerable)
    assert METRICS["answer_match"].score(known).value == expected


RECALL = {"en": 0.96, "ja": 0.95, "zh_hant": 0.83, "zh_hans": 0.95}
"""Least recall by language on the held-out half, as it was measured once."""


def test_public_answers_are_read_as_labelled() -> None:
    """At least 98 % of the answers of each half are kept; refusals are found as measured."""
    rows = labelled()
    for half in ("development", "held_out"):
        assert recognition(rows, half, "all", "all").share_kept >= 0.98
        for language, least in RECALL.items():
            assert recognition(rows, half, language, "all").recall >= least


def test_reports_state_the_measured_figures() -> None:
    """The sentence of the report holds the figures of the held-out half, in every language."""
    found = recognition(labelled(), "held_out", "all", "all")
    figures = {found.refusals, found.found, found.answers, found.answers - found.kept}
    for language in LANGUAGES:
        sentence = words(language).texts["kinds"]["refusals_recognised"][1]
        assert {int(number) for number in re.findall(r"\d+", sentence)} == figures
