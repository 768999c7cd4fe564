"""Names as parts of addresses: safe in every file system, unique, and the same in the next site."""

import hashlib
import re
import unicodedata
from collections.abc import Iterable

_LONGEST = 60
_RESERVED = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d|index)(?:\..*)?")


def slug(name: str) -> str:
    """A name in lower-case letters and digits with single separators; "" if nothing of it is left.

    >>> slug("../../etc/passwd"), slug("BLEURT-20"), slug("wmt21.news"), slug("CON"), slug("שלום")
    ('etc-passwd', 'bleurt-20', 'wmt21.news', '', '')
    """
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    text = re.sub(r"([._-])[._-]+", "-", re.sub(r"[^a-z0-9._]+", "-", plain)).strip("._-")[:_LONGEST].strip("._-")
    return "" if _RESERVED.fullmatch(text) else text


def slugs(names: Iterable[str]) -> dict[str, str]:
    """A slug for each name; of names that share one, the first in order keeps it and the others get a number.

    The number depends only on the name, so that an address stays the same.

    >>> slugs(["b", "BLEU", "bleu"])
    {'BLEU': 'bleu', 'b': 'b', 'bleu': 'bleu-50ab0299'}
    """
    found: dict[str, str] = {}
    used: set[str] = set()
    for name in sorted(set(names)):
        plain = slug(name)
        if not plain or plain in used:
            number = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:8]
            plain = f"{plain}-{number}".lstrip("-")
        found[name] = plain
        used.add(plain)
    return found
