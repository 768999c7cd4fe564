"""Notes on a terminal: few, short, what may change a decision first."""

from cli.render.brief import brief
from metaeval.results.notes import Decisive, ExclusionNote, NoteWithHint, placed
from tests.helpers import together

OUT = ExclusionNote("2 of 14 systems are excluded", "look", "system", 2)
WITHOUT = ExclusionNote("spa: without A, B", "", "metric", 2, ("A", "B"))
SAME = ExclusionNote("pa: without B", "", "metric", 1, ("B",))


def test_what_may_change_a_decision_comes_first_and_the_signature_last() -> None:
    lines = brief(["from the store", OUT, Decisive("wrong sign")], "rank sim24", 100)
    assert lines == ["wrong sign", "2 of 14 systems are excluded (look)", "from the store", "rank sim24"]


def test_all_that_is_excluded_is_one_line_where_each_name_counts_once() -> None:
    assert brief([OUT, WITHOUT, SAME], "", 100) == ["excluded: 2 systems, 2 metrics (-v lists them; look)"]


def test_the_same_name_in_two_evaluation_sets_counts_twice() -> None:
    (line,) = brief([placed("sim24 en-de", SAME), placed("sim24 cs-uk", SAME)], "", 100)
    assert line == "excluded: 2 metrics (-v lists them)"


@together(("n", "n_other"), [(4, 0), (5, 0), (6, 0), (40, 0), (40, 2)])
def test_there_are_at_most_six_lines_of_at_most_a_hundred_characters(n: int, n_other: int) -> None:
    lines = brief([f"{number} {'x' * 200}" for number in range(n)], "s" * 120, 160, n_other)
    assert len(lines) + n_other <= 6
    assert max(map(len, lines)) <= 100
    n_shown = sum("x" in line for line in lines)
    assert any(f"{n - n_shown} more note" in line for line in lines) == (n_shown < n)
    assert "-v" in "".join(lines)


def test_where_something_is_excluded_its_line_counts_the_notes_that_are_not_shown() -> None:
    lines = brief([OUT, *"abcdef"], "rank sim24", 100)
    assert lines == ["2 of 14 systems are excluded (look); … 2 more notes: -v", *"abcd", "rank sim24"]


def test_a_note_keeps_its_kind_behind_the_name_of_its_evaluation_set() -> None:
    found = [placed("sim24 en-de", note) for note in ("plain", Decisive("few"), NoteWithHint("3 are", "look"), OUT)]
    assert [type(note) for note in found] == [str, Decisive, NoteWithHint, ExclusionNote]
    assert found[2:] == ["sim24 en-de: 3 are (look)", "sim24 en-de: 2 of 14 systems are excluded (look)"]


def test_decisive_notes_of_one_kind_are_one_line_with_the_worst_first() -> None:
    signs = [
        placed(f"sim24 {lp}", Decisive("long " * 30, "wrong sign?", f"A r=-0.{n}", n)) for lp, n in (("a", 3), ("b", 9))
    ]
    few = Decisive("the values are based on only 4 systems", "few systems:", "4")
    lines = brief([signs[0], few, signs[1]], "", 100)
    assert lines == ["wrong sign? sim24 b A r=-0.9; sim24 a A r=-0.3", "the values are based on only 4 systems"]
    assert brief(signs, "", 44)[0] == "wrong sign? sim24 b A r=-0.9; 1 more (-v)"
    assert brief(signs[:1], "", 100) == ["wrong sign? sim24 a A r=-0.3"]
