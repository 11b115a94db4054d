"""What would show most next: each run with its command and price, and how many questions."""

from collections.abc import Iterator, Sequence

from harness.analysis.results import Aim, Analysis, MissingRun, NextStep, RunPrice
from harness.render.blocks import Block, Command, Items, Paragraph, Section
from harness.render.sections.basis import StudyFacts
from harness.render.sections.one_factor import change_text
from harness.render.vocabulary import Words

OFFERED = {True: 3, False: 10}
"""Runs of one aim whose commands are printed, in brief and in full; of those that separate
factors all are, as a part of them separates nothing."""


def what_next(analysis: Analysis, facts: StudyFacts, words: Words, brief: bool) -> Section | None:
    """Return the runs that would show something new, and what the size of the study allows."""
    by_aim = {aim: [s for s in analysis.next_steps if s.aim is aim] for aim in Aim}
    blocks: list[Block] = []
    if analysis.contrasts and not by_aim[Aim.SEPARATE]:
        blocks.append(Paragraph(words.line("next_separated")))
    blocks += separations(by_aim[Aim.SEPARATE], facts, words)
    sizes = [question_line(step, words) for step in by_aim[Aim.QUESTIONS]]
    if sizes:
        blocks.append(Items(tuple(sizes)))
    for aim in (Aim.DEPEND, Aim.SPLIT):
        possible = [step for step in by_aim[aim] if step.words]
        for step in possible[: OFFERED[brief]]:
            blocks += offer(step, facts, words)
        if more := len(possible) - len(possible[: OFFERED[brief]]):
            blocks.append(Paragraph(words.line("more_pairs" if brief else "more", more=more)))
    if recorded := sum(step.obstacle == "recorded" for step in analysis.next_steps):
        blocks.append(Paragraph(words.line("next_recorded", runs=recorded)))
    if any(step.words for step in analysis.next_steps):
        dry_run = "next_compare_dry_run" if facts.judge_is_model else "next_compare"
        blocks.append(Paragraph(words.line(dry_run)))
        blocks += [
            Command(" ".join((f"python -m harness.{stage}", *facts.overrides)))
            for stage in ("evaluate", "report")
        ]
    return words.section("next", blocks) if blocks else None


def first_step(analysis: Analysis, facts: StudyFacts, words: Words) -> Iterator[Block]:
    """Yield the most useful step that can be taken, in a line, with its command if it has one."""
    step = next((one for one in analysis.next_steps if not one.obstacle), None)
    if step is None:
        return
    if step.price is None:
        yield Paragraph(words.line("next_first", step=question_line(step, words)))
        return
    text, command = offer(step, facts, words, named=True)
    yield Paragraph(words.line("next_first", step=text.text))
    yield command


def separations(
    steps: Sequence[NextStep], facts: StudyFacts, words: Words
) -> Iterator[Paragraph | Command]:
    """Yield the runs that separate the confounded factors, and what no command separates."""
    runs = [step for step in steps if step.price is not None]
    if runs:
        key = "next_fewest" if runs[0].fewest else "next_stepwise"
        changes = [change_text(change, words) for step in runs for change in step.changes]
        yield Paragraph(words.line(key, runs=len(runs), changes=changes))
    for step in runs:
        if step.words:
            yield from offer(step, facts, words, named=len(runs) > 1)
    for step in steps:
        if step.obstacle == "unwritable":
            changes = [change_text(change, words) for change in step.changes]
            yield Paragraph(words.line("next_unwritable", changes=changes))


def offer(
    step: NextStep, facts: StudyFacts, words: Words, named: bool = False
) -> Iterator[Paragraph | Command]:
    """Yield what a run would show, its price, and its command.

    The changes that it separates are named where it is one of several runs.
    """
    assert step.price is not None
    price = price_text(step.price, words)
    if step.pair is not None:
        left, right = step.pair
        text = words.line("next_split", left=left, right=right, price=price)
    elif step.squares:
        squares = [
            words.line("next_square", **dict(zip(("first", "second"), texts, strict=True)))
            for texts in ([change_text(one, words) for one in both] for both in step.squares)
        ]
        text = words.line("next_depend", squares=squares, price=price)
    elif named and step.changes:
        changes = [change_text(change, words) for change in step.changes]
        text = words.line("next_for", changes=changes, price=price)
    else:
        text = words.line("next_run", price=price)
    yield Paragraph(text)
    yield collect_command(step.words, facts)


def price_text(price: RunPrice, words: Words) -> str:
    """Say what a run costs at most."""
    if not price.asks_model:
        parts = [words.line("price_no_model")]
    else:
        parts = [words.line("price_answers", answers=price.answers)]
        if price.input_tokens and price.output_tokens:
            totals = {
                f"{name}_{end}": mean * price.answers
                for name, means in (("in", price.input_tokens), ("out", price.output_tokens))
                for end, mean in zip(("low", "high"), means, strict=True)
            }
            parts.append(words.line("price_tokens", **totals))
    if price.new_index is not None:
        parts.append(words.line("price_index" if price.new_index else "price_no_index"))
    return words.join("list", parts)


def question_line(step: NextStep, words: Words) -> str:
    """Say how many questions find a gain in right answers."""
    return words.line(
        "next_questions",
        gain=step.gain,
        questions=step.questions,
        asked=step.asked,
        changed=step.changed,
        power=step.power,
    )


def collect_command(run: MissingRun, facts: StudyFacts) -> Command:
    """Return the line that collects a variant of this study, which no judge takes part in.

    >>> words = ("study=census", "judge=chat", "chat@judge.chat=ollama", "root=judge")
    >>> collect_command(("variant=ctx_k4",), StudyFacts("census", overrides=words))
    Command(text='python -m harness.collect study=census root=judge variant=ctx_k4')
    """
    study = (word for word in facts.overrides if "judge" not in word.partition("=")[0])
    return Command(" ".join(("python -m harness.collect", *study, *run)))
