"""Protocols of human scores by their names."""

from pathlib import Path

from warehouse import LoadReport, Warehouse
from warehouse.facts.human_protocols import judgements_of, protocol_of, share_ratings

PROTOCOLS = {
    **dict.fromkeys(("wmt-raw", "wmt-z", "wmt"), "da"),
    **dict.fromkeys(("mqm", "mqm.merged", "google-mqm"), "mqm"),
    **dict.fromkeys(("da-sqm", "da-sqm-ref", "da-sqm-src"), "da-sqm"),
    "esa": "esa",
    "esa-2": "esa",
    "esaai-2": "esaai",
    "wmt-appraise": "appraise",
    "HUMAN": "rr",  # WMT12's share of outputs ranked better
    "mqmish": "mqmish",
}


def test_kinds_of_one_protocol_share_its_name() -> None:
    assert {human: protocol_of(human) for human in PROTOCOLS} == PROTOCOLS


def test_the_same_judgements_on_another_scale_are_no_protocol_of_their_own() -> None:
    humans = ("wmt", "da", "mqm", "da-sqm", "esa", "esaai", "appraise", "wmt-appraise", "psqm", "HUMAN")
    scaled = {human + scale: protocol_of(human) for human in humans for scale in ("-z", "-raw", "-Z")}
    assert {human: protocol_of(human) for human in scaled} == scaled


ALIKE = 0.5
"""Correlation over outputs above which two human scores are of the same judgements: others reach .36, and .47 (rounds
of one protocol); scores by one judge each that are normalised by judge reach .54 to 1."""


def test_no_two_human_scores_of_the_data_from_the_same_judgements_are_of_two_protocols(
    real_load: tuple[Path, LoadReport],
) -> None:
    with Warehouse.open(real_load[0]) as warehouse:
        pairs = warehouse.rows(
            """
            SELECT a.testset, a.lp, a.human, b.human, corr(a.value, b.value) > $alike
            FROM human_scores AS a
            JOIN human_scores AS b USING (testset, lp, system, segment)
            WHERE a.human < b.human
            GROUP BY ALL
            """,
            {"alike": ALIKE},
        )
    assert sum(alike for *_, alike in pairs) >= 15
    assert [one for *one, alike in pairs if alike and protocol_of(one[2]) != protocol_of(one[3])] == []
    by_name = [one for *one, alike in pairs if judgements_of(one[2]) == judgements_of(one[3]) and not alike]
    assert [(testset, lp) for testset, lp, *_ in by_name] == []


def test_human_scores_of_the_data_with_the_same_ratings_are_known_to_share_them(
    real_load: tuple[Path, LoadReport],
) -> None:
    """Two annotators give the same score to under a fifth of outputs that one of them found imperfect."""
    with Warehouse.open(real_load[0]) as warehouse:
        pairs = warehouse.rows(
            """
            SELECT a.human, b.human, avg((a.value = b.value)::INTEGER) FILTER (a.value < 0 OR b.value < 0) > .2
            FROM human_scores AS a
            JOIN human_scores AS b USING (testset, lp, system, segment)
            WHERE a.human < b.human AND contains(a.human, 'mqm') AND contains(b.human, 'mqm')
            GROUP BY a.testset, a.lp, a.human, b.human
            """
        )
    assert any(alike for *_, alike in pairs)
    assert [one for *one, alike in pairs if alike and not share_ratings(*one)] == []
