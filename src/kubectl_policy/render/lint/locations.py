"""Locations of findings: paths from the root of the repository, URIs, lines and columns."""

from __future__ import annotations

import re
from posixpath import isabs, join, normpath
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from kubectl_policy.text.scalars import plain_scalar

if TYPE_CHECKING:
    from kubectl_policy.lint.finding import Finding
    from kubectl_policy.lint.report import Report
    from kubectl_policy.model import ObjectRef, Origin

# The last step of a field, if it is a key that stands in a text as it is.
_KEY: Final = re.compile(r"(?:^|\.)([A-Za-z][A-Za-z0-9_-]*)$")
# A scalar on one line: in quotes that hold no escape, or plain.
_SCALAR: Final = r"""(?:"([^"\\]*)"|'([^']*)'|([^\s"'\[\]{},#&*!|>%@`][^\s,\[\]{}#]*))(?=\s*(?:[,}\]]|$|\s#))"""
_NAME: Final = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?")
# The text before a key of a mapping.
_BEFORE_KEY: Final = r"""(?:^|(?<=[\s{,]))["']?"""


def _region(line: int, start: int, end: int) -> dict[str, int]:
    """Return a region of SARIF in one line: from a column (from 1, in characters) up to another one, which is excluded.

    GitHub annotates only regions inside the difference.
    """
    return {"startLine": line, "startColumn": start, "endLine": line, "endColumn": end}


def path_of(origin: Origin | None, report: Report) -> str:
    """Return the path of the file of an origin from the root of the repository, or "" without a file.

    A file outside the repository has its absolute path.
    """
    # Standard input, `<stdin>`, has lines and is no file.
    if not (origin and origin.line) or origin.source.startswith("<"):
        return ""
    source, checkout = origin.source, report.checkout
    path = normpath(join(checkout.folder, source)) if checkout.root else normpath(source)
    return path.removeprefix(f"{checkout.root.rstrip('/')}/")


def path_or_name(finding: Finding, report: Report) -> str:
    """Return the path of the file of a finding, or a made-up one: `kind-dev/shop/HTTPRoute/checkout`."""
    return path_of(finding.origin, report) or "/".join(_names(finding.origin, finding.subject))


def uri_of(origin: Origin | None, subject: ObjectRef | None, report: Report) -> str:
    """Return the location as a relative URI; a file outside the repository has an absolute one."""
    path = path_of(origin, report)
    if not path:
        return "/".join(_quoted(name, "") for name in _names(origin, subject))
    return f"file://{_quoted(path)}" if isabs(path) else _quoted(path)


def _names(origin: Origin | None, subject: ObjectRef | None) -> list[str]:
    names = [origin.source if origin else "", *((subject.namespace, subject.kind, subject.name) if subject else ())]
    # A name that is a step of a path would lead elsewhere.
    return [name.replace("/", "_") for name in names if name.strip(".")] or ["cluster"]


def _quoted(text: str, safe: str = "/") -> str:
    # Names of files need not be text.
    return quote(text, safe=safe, errors="surrogatepass")


def region_of(origin: Origin | None, report: Report) -> dict[str, int]:
    """Return the text of a line without indentation, or its first character if the text is unknown."""
    text = report.checkout.texts.get(origin, "").rstrip() if origin else ""
    line = (origin.line if origin else 0) or 1
    start = len(text) - len(text.lstrip())
    return _region(line, start + 1, max(len(text), start + 1) + 1)


def replaced_region(finding: Finding, report: Report) -> dict[str, int] | None:
    """Return the region that the value of a fix replaces, if the value of the field is in the line once."""
    key = _KEY.search(finding.field)
    text = report.checkout.texts.get(finding.origin, "") if finding.origin else ""
    if not (finding.origin and finding.fix and key and _is_plain(finding.fix.value)):
        return None
    matches = list(re.finditer(rf"""{_BEFORE_KEY}{re.escape(key[1])}["']?\s*:\s+{_SCALAR}""", text))
    if len(matches) != 1:
        return None
    start, end = matches[0].span(matches[0].lastindex or 0)
    return _region(finding.origin.line, start + 1, end + 1)


def _is_plain(value: str) -> bool:
    """Whether a value means the same with and without quotes."""
    return bool(_NAME.fullmatch(value)) and isinstance(plain_scalar(value), str)
