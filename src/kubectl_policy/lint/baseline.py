"""Findings that are known from another run: what each is known by, and the file in which they are kept."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import TYPE_CHECKING, Final, NoReturn

from msgspec import Struct
from msgspec.structs import replace

from kubectl_policy.errors import SourceError
from kubectl_policy.lint.finding import Finding
from kubectl_policy.model import FieldPath, GroupKind, ObjectRef, Origin
from kubectl_policy.model.fields import items_at, mapping_at, text_at, value_at

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from kubectl_policy.model import Json

_API_VERSION: Final = "policy.kubectl/v1alpha1"
_KIND: Final = "LintBaseline"
# What names an item of a list, and what else tells items of the same name apart.
_NAMES: Final = ("name", "type")
_BESIDE: Final = ("group", "kind", "namespace", "sectionName")
_WRITTEN: Final = ("rule", "field", "message", "fingerprint")


def fingerprinted(
    findings: Iterable[Finding], raw_of: Callable[[ObjectRef], Json] = lambda _: None
) -> tuple[Finding, ...]:
    """Findings with what each is known by in other runs, no two by the same; `raw_of` has the objects they are about.

    It is of the rule, the object, the field, the API's word for it, and the other object that is concerned. Neither
    lines nor messages nor severities count, and items of lists are known by their names: all of these change although
    the cause is the same. Of several findings with all of that in common, the second one is known as such, and so on.
    """
    given = tuple(findings)
    known_by = [_known_by(finding, raw_of) for finding in given]
    numbers: dict[str, int] = {}
    found = list(given)
    # Not in the order of lines, which change.
    order = [(finding.field, finding.message, finding.origin or Origin("")) for finding in given]
    for place in sorted(range(len(given)), key=lambda place: (known_by[place], *order[place])):
        what = known_by[place]
        numbers[what] = number = numbers.get(what, 0) + 1
        written = what if number == 1 else f"{what} {number}"
        found[place] = replace(given[place], fingerprint=sha256(written.encode()).hexdigest())
    return tuple(found)


def _parts(ref: ObjectRef) -> tuple[str, str, str, str]:
    return ref.group_kind.group, ref.group_kind.kind, ref.namespace, ref.name


def _known_by(finding: Finding, raw_of: Callable[[ObjectRef], Json]) -> str:
    subject, origin = finding.subject, finding.origin
    about: Sequence[str] = (origin.source if origin else "",)
    if subject:
        about = _parts(subject)
    other = finding.related[0].object if finding.related else None
    return json.dumps(
        [
            finding.rule,
            about,
            list(_by_names(finding.field, raw_of(subject) if subject else None)),
            finding.reason,
            _parts(other) if other else (),
        ]
    )


def _by_names(field: str, raw: Json) -> Iterator[Json]:
    """The steps to a field of an object, with what names the items of lists in the place of their positions."""
    try:
        steps = FieldPath.parse(field).steps
    except ValueError:
        yield field
        return
    here = FieldPath()
    for step in steps:
        here /= step
        yield (_identity(here.get(raw)) if isinstance(step, int) else "") or str(FieldPath((step,)))


def _identity(item: Json) -> Json:
    """What an item of a list is known by beside its position; nothing if it has no name."""
    if isinstance(item, str):
        return [item]
    if not any(text_at(item, name) for name in _NAMES):
        return None
    return {name: text_at(item, name) for name in (*_NAMES, *_BESIDE) if text_at(item, name)}


class Compared(Struct, frozen=True, kw_only=True):
    """Findings that are new, those that are known from another run, and those of that run which are fixed."""

    new: tuple[Finding, ...]
    known: tuple[Finding, ...]
    fixed: tuple[Finding, ...]


def compare(findings: Iterable[Finding], before: Iterable[Finding]) -> Compared:
    """Compare findings with those of another run, by their fingerprints; what is uncertain now is not fixed."""
    found, earlier = tuple(findings), tuple(before)
    now, then = ({each.fingerprint for each in some} for some in (found, earlier))
    return Compared(
        new=tuple(each for each in found if each.fingerprint not in then),
        known=tuple(each for each in found if each.fingerprint in then),
        fixed=tuple(each for each in earlier if each.fingerprint not in now),
    )


def baseline_of(findings: Iterable[Finding]) -> dict[str, Json]:
    """The document that keeps what is certain of findings, in an order that hardly changes."""
    certain = sorted(
        (finding for finding in findings if finding.certain),
        key=lambda each: (each.rule, str(each.subject or ""), each.field, each.fingerprint),
    )
    return {"apiVersion": _API_VERSION, "kind": _KIND, "findings": [_entry(finding) for finding in certain]}


def _entry(finding: Finding) -> Json:
    said = {name: getattr(finding, name) for name in _WRITTEN}
    subject, origin = finding.subject, finding.origin
    if subject:
        names = ("group", "kind", "namespace", "name")
        return {**said, "object": dict(zip(names, _parts(subject), strict=True))}
    return {**said, "file": origin.source if origin else ""}


def baseline_text(findings: Iterable[Finding]) -> str:
    """The same as JSON with a line for each finding, so that changes of it can be read and merged."""
    document = baseline_of(findings)
    entries = ",\n".join(f"    {json.dumps(entry)}" for entry in items_at(document, "findings"))
    head = json.dumps({**document, "findings": []}, indent=2)
    return head.replace("[]", f"[\n{entries}\n  ]" if entries else "[]") + "\n"


def read_baseline(text: str, source: str) -> tuple[Finding, ...]:
    """The findings that a text keeps, which was read from a source. Raises `SourceError` if it is no baseline."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        _refuse(source, "not JSON")
    if text_at(document, "kind") != _KIND or not isinstance(value_at(document, "findings"), list):
        _refuse(source, f"not a {_KIND}")
    if text_at(document, "apiVersion") != _API_VERSION:
        _refuse(source, f"not of the version {_API_VERSION}")
    return tuple(_read(entry, place, source) for place, entry in enumerate(items_at(document, "findings")))


def _read(entry: Json, place: int, source: str) -> Finding:
    for name in ("fingerprint", "rule"):
        if not text_at(entry, name):
            _refuse(source, f"findings[{place}].{name} is not there, or no text")
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
