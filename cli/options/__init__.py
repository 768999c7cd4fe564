"""Options that several commands share: which data, where results go."""

from cli.options.data import Draws, Fresh, Lp, Measures, Seed, Testset, language_pair, pairs_called
from cli.options.folding import folded
from cli.options.output import Db, FormatOption, Out, Output, PageOutput, Quiet, SafeCells
from cli.options.values import choice, choice_argument, chosen, number

__all__ = [
    "Db",
    "Draws",
    "FormatOption",
    "Fresh",
    "Lp",
    "Measures",
    "Out",
    "Output",
    "PageOutput",
    "Quiet",
    "SafeCells",
    "Seed",
    "Testset",
    "choice",
    "choice_argument",
    "chosen",
    "folded",
    "language_pair",
    "number",
    "pairs_called",
]
