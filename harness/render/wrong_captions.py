"""The answers that rest on a caption which people graded wrong."""

from collections.abc import Mapping, Sequence

from harness.analysis.suspects import OnWrongCaption
from harness.render.blocks import Items, Line, Section, Tone
from harness.render.wording import Words


def wrong_captions(found: Mapping[str, Sequence[OnWrongCaption]], words: Words) -> Section | None:
    """Return the answers by run, those that rest on nothing else first; None where there is none.

    Args:
        found: Run -> its answers on wrong captions.
        words: The report's language.
    """
    answers = [(run, answer) for run, rows in found.items() for answer in rows]
    if not answers:
        return None
    told = [sentence(run, answer, words) for run, answer in answers if answer.only]
    told += [sentence(run, answer, words) for run, answer in answers if not answer.only]
    note = Line(words.line("wrong_caption_note"), Tone.MUTED)
    return Section(
        "wrong_captions", words.get("headings", "wrong_captions"), (Items(tuple(told)), note)
    )


def sentence(run: str, answer: OnWrongCaption, words: Words) -> str:
    """Return one answer in words."""
    return words.line(
        "wrong_caption_only" if answer.only else "wrong_caption_partly",
        run=run,
        question=answer.question_id,
        figures=answer.figures,
        claims=len(answer.claims),
        supported=answer.supported,
    )
