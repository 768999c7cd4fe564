"""Options with one value, given several times."""

from tests.cli.running import Scorehouse, refused
from tests.helpers import together

RANK = ("rank", "sim24", "en-de", "-m", "pa")


@together(
    ("words", "line"),
    [
        (("-o", "a", "--output", "b", *RANK), "--output is given twice: it takes one value"),
        ((*RANK, "--mid-p", "--no-mid-p"), "--mid-p and --no-mid-p cannot be combined"),
        ((*RANK, *("--seed", "1") * 3), "--seed is given 3 times: it takes one value"),
    ],
)
def test_an_option_with_one_value_is_taken_once(words: tuple[str, ...], line: str, scorehouse: Scorehouse) -> None:
    assert refused(scorehouse(*words), 2) == f"error: {line}"


def test_a_flag_may_be_repeated_and_help_may_stand_beside_anything(scorehouse: Scorehouse) -> None:
    assert scorehouse(*RANK, "-m", "pearson", "--user-metrics", "--user-metrics").code == 0
    assert scorehouse("rank", "--help", "--seed", "1", "--seed", "2").code == 0
