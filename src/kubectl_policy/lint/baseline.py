"""Baselines: fingerprints of findings, and the file that keeps known findings."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import TYPE_CHECKING, Final, NoReturn

from msgspec.structs import replace

from kubectl_policy.errors import SourceError
from kubectl_policy.lint.finding import Finding
from kubectl_policy.model import FieldPath, GroupKind, Json, ObjectRef, Origin
from kubectl_policy.model.fields import items_at, mapping_at, text_at, value_at

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator


_API_VERSION: Final = "policy.kubectl/v1alpha1"
_KIND: Final = "LintBaseline"
# Members that name an item of a list, and members that distinguish items of the same name.
_NAMES: Final = ("name", "type")
_BESIDE: Final = ("group", "kind", "namespace", "sectionName")
_WRITTEN: Final = ("rule", "field", "message", "fingerprint")


def fingerprinted(
    findings: Iterable[Finding], raw_of: Callable[[ObjectRef], Json] = lambda _: None
) -> tuple[Finding, ...]:
    """Return findings with unique fingerprints; `raw_of` returns the objects that they are about.

    A fingerprint is made of the rule, the object, the field, the reason and the first related object. Lines, messages
    and severities do not count, and items of lists are identified by their names: all of these change although the
    cause stays. Findings that are equal in all of this are numbered.
    """
    numbered = tuple(findings)
    known_by = [_known_by(finding, raw_of) for finding in numbered]
    numbers: dict[str, int] = {}
    fingerprinted_findings = list(numbered)
    # Not in the order of lines, which change.
    order = [(finding.field, finding.message, finding.origin or Origin("")) for finding in numbered]
    for position in sorted(range(len(numbered)), key=lambda position: (known_by[position], *order[position])):
        identity = known_by[position]
        numbers[identity] = number = numbers.get(identity, 0) + 1
        written = identity if number == 1 else f"{identity} {number}"
        fingerprinted_findings[position] = replace(numbered[position], fingerprint=sha256(written.encode()).hexdigest())
    return tuple(fingerprinted_findings)


def _parts(ref: ObjectRef) -> tuple[str, str, str, str]:
    return ref.group_kind.group, ref.group_kind.kind, ref.namespace, ref.name


def _known_by(finding: Finding, raw_of: Callable[[ObjectRef], Json]) -> str:
    subject, origin = finding.subject, finding.origin
    about = _parts(subject) if subject else (origin.source if origin else "",)
    steps = list(_by_names(finding.field, raw_of(subject) if subject else None))
    related = _parts(finding.related[0].object) if finding.related else ()
    return json.dumps([finding.rule, about, steps, finding.reason, related])


def _by_names(field: str, raw: Json) -> Iterator[Json]:
    """Yield the steps to a field; positions in lists are replaced by the names of the items."""
    try:
        steps = FieldPath.parse(field).steps
    except ValueError:
        yield field
        return
    path = FieldPath()
    for step in steps:
        path /= step
        yield (_identity(path.get(raw)) if isinstance(step, int) else "") or str(FieldPath((step,)))


def _identity(item: Json) -> Json:
    """Return the members that identify an item of a list, or None if it has no name."""
    if isinstance(item, str):
        return [item]
    if not any(text_at(item, name) for name in _NAMES):
        return None
    return {name: text_at(item, name) for name in (*_NAMES, *_BESIDE) if text_at(item, name)}


def baseline_of(findings: Iterable[Finding]) -> dict[str, Json]:
    """Return the document that keeps the findings that count, in an order that rarely changes."""
    counting = sorted(
        (finding for finding in findings if finding.counts),
        key=lambda finding: (finding.rule, str(finding.subject or ""), finding.field, finding.fingerprint),
    )
    return {"apiVersion": _API_VERSION, "kind": _KIND, "findings": [_entry(finding) for finding in counting]}


def _entry(finding: Finding) -> Json:
    members = {name: getattr(finding, name) for name in _WRITTEN}
    subject, origin = finding.subject, finding.origin
    if subject:
        names = ("group", "kind", "namespace", "name")
        return {**members, "object": dict(zip(names, _parts(subject), strict=True))}
    return {**members, "file": origin.source if origin else ""}


def baseline_text(findings: Iterable[Finding]) -> str:
    """Return a baseline as JSON with one line per finding, which can be reviewed and merged."""
    document = baseline_of(findings)
    entries = ",\n".join(f"    {json.dumps(entry)}" for entry in items_at(document, "findings"))
    head = json.dumps({**document, "findings": []}, indent=2)
    return head.replace("[]", f"[\n{entries}\n  ]" if entries else "[]") + "\n"


def read_baseline(text: str, source: str) -> tuple[Finding, ...]:
    """Return the findings in the text of a baseline. Raise `SourceError` if it is not one."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        _refuse(source, "not JSON")
    if text_at(document, "kind") != _KIND or not isinstance(value_at(document, "findings"), list):
        _refuse(source, f"not a {_KIND}")
    if text_at(document, "apiVersion") != _API_VERSION:
        _refuse(source, f"not of the version {_API_VERSION}")
    return tuple(_read(entry, position, source) for position, entry in enumerate(items_at(document, "findings")))


def _read(entry: Json, position: int, source: str) -> Finding:
    for name in ("fingerprint", "rule"):
        if not text_at(entry, name):
            _refuse(source, f"findings[{position}].{name} is not there, or no text")
    about, file = mapping_at(entry, "object"), text_at(entry, "file")
    kind = GroupKind(text_at(about, "group"), text_at(about, "kind"))
    return Finding(
        subject=ObjectRef(kind, text_at(about, "namespace"), text_at(about, "name")) if about else None,
        message=text_at(entry, "message"),
        field=text_at(entry, "field"),
        origin=Origin(file) if file else None,
        rule=text_at(entry, "rule"),
        fingerprint=text_at(entry, "fingerprint"),
    )


def _refuse(source: str, problem: str) -> NoReturn:
    raise SourceError(f"{source}: no baseline: {problem}", "kubectl policy lint --write-baseline FILE writes one")
