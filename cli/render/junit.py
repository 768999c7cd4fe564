"""JUnit XML, which servers of continuous integration read."""

import re
from collections.abc import Mapping
from xml.sax.saxutils import escape, quoteattr

from cli.render.cells import one_line

_NOT_IN_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


def junit_text(suite: str, cases: Mapping[str, tuple[str, bool]], signature: str) -> str:
    """A suite of cases. cases: by name, the finding and whether it is a failure.

    >>> print(junit_text("a", {"b<": ("fine", False), "c": ("bad", True)}, "s"), end="")
    <?xml version="1.0" encoding="UTF-8"?>
    <testsuites>
    <testsuite name="a" tests="2" failures="1" errors="0" skipped="0">
    <testcase classname="a" name="b&lt;"><system-out>fine</system-out></testcase>
    <testcase classname="a" name="c"><failure message="bad">bad</failure></testcase>
    <system-out>s</system-out>
    </testsuite>
    </testsuites>
    """
    lines = []
    for name, (words, is_failure) in cases.items():
        kept = escape(_plain(words))
        said = f"<failure message={quoteattr(_plain(words))}>{kept}</failure>" if is_failure else ""
        said = said or f"<system-out>{kept}</system-out>"
        lines.append(f"<testcase classname={quoteattr(_plain(suite))} name={quoteattr(_plain(name))}>{said}</testcase>")
    n_failed = sum(is_failure for _, is_failure in cases.values())
    counts = f'tests="{len(cases)}" failures="{n_failed}" errors="0" skipped="0"'
    body = "\n".join([*lines, f"<system-out>{escape(_NOT_IN_XML.sub('', signature))}</system-out>"])
    head = '<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>\n'
    return f"{head}<testsuite name={quoteattr(_plain(suite))} {counts}>\n{body}\n</testsuite>\n</testsuites>\n"


def _plain(text: str) -> str:
    return _NOT_IN_XML.sub("", one_line(text))
