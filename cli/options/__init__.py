"""Options that several commands share: which data, how computed, how tested, where results go."""

from cli.options.chart import ChartFlags
from cli.options.choices import choice, choice_argument, chosen
from cli.options.compute import (
    SYSTEM_SCORES,
    Alpha,
    ComputeFlags,
    Draws,
    Fresh,
    Measures,
    RawTies,
    RoundHuman,
    Seed,
    SystemScoreOption,
    compute_options,
)
from cli.options.engine import EngineFlags
from cli.options.folding import folded
from cli.options.numbers import Number, number, whole_number
from cli.options.output import Db, FormatOption, Out, Output, PageOutput, Quiet, SafeCells
from cli.options.slice import (
    DataFlags,
    Human,
    Lp,
    Lps,
    Reference,
    SliceFlags,
    Testset,
    Testsets,
    language_pair,
    pairs_called,
)
from cli.options.tests import TestFlags

__all__ = [
    "SYSTEM_SCORES",
    "Alpha",
    "ChartFlags",
    "ComputeFlags",
    "DataFlags",
    "Db",
    "Draws",
    "EngineFlags",
    "FormatOption",
    "Fresh",
    "Human",
    "Lp",
    "Lps",
    "Measures",
    "Number",
    "Out",
    "Output",
    "PageOutput",
    "Quiet",
    "RawTies",
    "Reference",
    "RoundHuman",
    "SafeCells",
    "Seed",
    "SliceFlags",
    "SystemScoreOption",
    "TestFlags",
    "Testset",
    "Testsets",
    "choice",
    "choice_argument",
    "chosen",
    "compute_options",
    "folded",
    "language_pair",
    "number",
    "pairs_called",
    "whole_number",
]
