from dataclasses import replace

from harness.analysis.findings.study_findings import agreement_finding
from harness.analysis.results import CheckAgreement

AGREEMENT = CheckAgreement(
    first="A",
    second="B",
    check="passage_useful",
    first_labelled=4,
    second_labelled=4,
    n=4,
    questions=2,
    agreed=3,
    shares={0: (0.5, 0.25), 1: (0.5, 0.75)},
    kappa=0.5,
    low=-0.3,
    high=1.0,
    undefined=None,
)


def test_a_kappa_is_given_with_its_share() -> None:
    """Three of four labels agree: a share of 0.75, and no reason why kappa is undefined."""
    finding = agreement_finding(AGREEMENT)

    assert (finding.numbers["share"], finding.numbers["kappa"]) == (0.75, 0.5)
    assert finding.names == {"first": "A", "second": "B", "check": "passage_useful"}


def test_an_undefined_kappa_has_its_reason() -> None:
    """The reason is a status where one judge gave no label, else why labels cannot be matched."""
    none = replace(AGREEMENT, n=0, agreed=0, kappa=None, low=None, high=None)

    lacking = agreement_finding(replace(none, undefined="budget", lacking="B"))
    unmatched = agreement_finding(replace(none, undefined="other_claims"))

    assert lacking.numbers["share"] is None
    assert (lacking.names["status"], lacking.names["lacking"]) == ("budget", "B")
    assert unmatched.names["unmatched"] == "other_claims"
    assert "lacking" not in unmatched.names
