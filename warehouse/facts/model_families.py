"""Families of language models by the names of judges and systems."""

import re
from functools import cache

from warehouse.facts import packaged


@cache
def model_family(name: str) -> str | None:
    """The family of language models in a name; None if it contains none.

    >>> [model_family(name) for name in ("GEMBA-GPT4", "claude-3-7-sonnet", "Llama3-70B", "ONLINE-A", "TRANSLLAMA")]
    ['OpenAI', 'Anthropic', 'Meta', None, None]
    """
    parts = re.findall(r"[a-z][a-z]*[0-9]*", name.lower())
    for family, words in packaged("model_families.toml").items():
        if any(re.fullmatch(rf"{re.escape(word)}\d*", part) for part in parts for word in words):
            return str(family)
    return None
