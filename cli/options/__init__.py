"""Options that several commands share: which data, where results go."""

from cli.options.choices import choice, choice_argument, chosen
from cli.options.compute import Draws, Fresh, Measures, Seed
from cli.options.folding import folded
from cli.options.numbers import Number, number, whole_number
from cli.options.output import Db, FormatOption, Out, Output, PageOutput, Quiet, SafeCells
from cli.options.slice import Lp, Testset, language_pair, pairs_called

__all__ = [
    "Db",
    "Draws",
    "FormatOption",
    "Fresh",
    "Lp",
    "Measures",
    "Number",
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
    "whole_number",
]
