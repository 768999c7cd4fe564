"""Words that help and documents do not use, as the field has others."""

import re

NOT_OF_THE_FIELD = re.compile(
    r"\black(?:s|ing|ed)?\b|\basked for\b|\banew\b|\b(?:took|takes?) (?:no )?part\b|\b(?:take|takes) (?:it )?away\b"
    r"|\btold (?:as|by name)\b|\bduels?\b|\bfitting tests?\b|\btie margin\b|\blevel of significance\b"
    r"|(?<![-_])\b[Ww]orlds?\b(?!=)|\blaid aside\b"
)
"""Among them missing, selected, again, was submitted, removes, reported, applicable tests, simulated data sets."""
