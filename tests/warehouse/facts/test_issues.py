"""Published issues."""

from warehouse.facts.issues import issues
from warehouse.facts.metrics import describe
from warehouse.facts.testsets import facts, known_testsets


def test_every_issue_concerns_a_declared_test_set_and_an_official_human_score_or_a_listed_metric() -> None:
    for issue in issues():
        assert issue.testset in known_testsets(), issue
        humans = {name for evalset in facts(issue.testset).lps.values() for name in evalset.standard_human.values()}
        if issue.scorer is not None:
            assert issue.scorer in humans or describe(issue.scorer).is_known, issue
