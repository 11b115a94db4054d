"""The checks: which text is asked about in which way, and which evidence results."""

from collections.abc import Iterable
from dataclasses import dataclass, fields

from harness.errors import ConfigError, UnknownNameError, unknown
from harness.judge.cases import Case, Kind
from harness.judge.custom_checks import CustomCheck
from harness.metrics.evidence import Evidence
from harness.records import Status


@dataclass(frozen=True, slots=True)
class Check:
    """One kind of question, put to one text of a case."""

    name: str
    kind: Kind
    of: str
    """response | reference | context (all passages joined) | passages (one after another)"""
    claims: str | None = None
    """The check whose claims are held against the text."""
    gives: tuple[str, ...] = ()
    """Fields of `Evidence` that come of it."""
    own: CustomCheck | None = None

    def texts(self, case: Case) -> tuple[str, ...]:
        """Return the texts that are asked about; none where there are no passages."""
        if self.of == "passages":
            return case.passages
        if self.of == "context":
            return ("\n".join(case.passages),) if case.passages else ()
        return (case.response if self.of == "response" else case.reference,)


def _entailment(claims: str, of: str) -> Check:
    name = f"{claims}_in_{of}"
    return Check(name, Kind.ENTAILMENT, of, f"claims_{claims}", (name,))


CHECKS: dict[str, Check] = {
    check.name: check
    for check in (
        Check("claims_response", Kind.CLAIMS, "response"),
        Check("claims_reference", Kind.CLAIMS, "reference"),
        Check("passage_useful", Kind.USEFULNESS, "passages", gives=("passage_useful",)),
        Check(
            "reverse_question",
            Kind.REVERSE_QUESTION,
            "response",
            gives=("question_similarity", "noncommittal"),
        ),
        _entailment("response", "context"),
        _entailment("reference", "context"),
        _entailment("response", "passages"),
        _entailment("reference", "passages"),
        _entailment("response", "reference"),
        _entailment("reference", "response"),
    )
}
"""In the order in which they are asked: what claims are held against comes last."""

NOTHING: dict[str, Status] = {
    "claims_response": Status.NO_CLAIMS,
    "claims_reference": Status.NO_REFERENCE_CLAIMS,
    "reverse_question": Status.NO_REVERSE_QUESTIONS,
}
"""Why a check has nothing to label; the others lack passages."""


def checks_named(names: Iterable[str], own: Iterable[CustomCheck] = ()) -> tuple[Check, ...]:
    """Return the checks of these names with those they rest on, and then one's own.

    Raises UnknownNameError, and ConfigError where a check of one's own takes a taken name.
    """
    found = {name: CHECKS[name] for name in with_claims(names)}
    for check in own:
        if check.name in CHECKS or check.name in found:
            raise ConfigError(f"check '{check.name}' is there already; give yours another name")
        found[check.name] = Check(check.name, Kind.OWN_CHECK, check.of, own=check)
    return tuple(found.values())


def checks_for(needs: Iterable[str]) -> tuple[str, ...]:
    """Return the checks that fill these fields of `Evidence`, and the checks these rest on.

    Fields that need no judge ask for no check.

    >>> checks_for(["response_in_context", "response_text"])
    ('claims_response', 'response_in_context')
    >>> checks_for(["noncommittal", "question_similarity"])
    ('reverse_question',)
    """
    wanted = set(needs)
    known = [field.name for field in fields(Evidence)]
    for need in sorted(wanted - set(known)):
        raise UnknownNameError(unknown(need, known, "field of Evidence"))
    return with_claims(name for name, check in CHECKS.items() if wanted & set(check.gives))


def with_claims(names: Iterable[str]) -> tuple[str, ...]:
    """Return the checks in the order of asking, with the claim checks that they rest on.

    >>> with_claims(["reference_in_response"])
    ('claims_reference', 'reference_in_response')
    """
    wanted = set(names)
    for name in sorted(wanted - set(CHECKS)):
        raise UnknownNameError(unknown(name, CHECKS, "check"))
    wanted |= {claims for name in wanted if (claims := CHECKS[name].claims)}
    return tuple(name for name in CHECKS if name in wanted)
