"""What people do not want to hear of, as they say it beside the objects: in annotations and in comments."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from kubectl_policy.lazy import pattern
from kubectl_policy.model import FieldPath, Origin
from kubectl_policy.model.fields import mapping_at

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from kubectl_policy.lint.finding import Finding
    from kubectl_policy.lint.linted import Linted
    from kubectl_policy.lint.report import How
    from kubectl_policy.model import ObjectRef, Resource
    from kubectl_policy.model.snapshot import Comment

_OURS: Final = "policy.kubectl.dev/"
# An annotation with rules, one with the reason for that, and the beginning of those that are about one rule each.
LISTED: Final = f"{_OURS}ignore"
REASON: Final = f"{LISTED}-reason"
SINGLE: Final = f"ignore.{_OURS}"
_ANNOTATIONS: Final = FieldPath(("metadata", "annotations"))

_UNTIL: Final = pattern(r"(?:^|(?<=[\s,;]))(\()?until=([^\s,;)]*)(?(1)\)?)")
_DATE: Final = pattern(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_IGNORE: Final = pattern(r"ignore(?![^\s:])")
_RULES: Final = pattern(r"[\s,;]+")
# A rule in a comment, and what tells that another one follows: a comma, or an id.
_RULE: Final = pattern(r"([^\s,;:]+)(?:[ \t]*[,;][ \t]*|[ \t]+(?=GWP[0-9])|(?=[\s:]|\Z))")
# What may stand around a reason, between it and the rest.
_AROUND: Final = " \t\r\n,;:-\N{EN DASH}\N{EM DASH}"


class Suppression(Struct, frozen=True, kw_only=True):
    """That what some rules find of one object, or on some lines of a file, is not to be reported."""

    names: tuple[str, ...]
    """Rules as they are written: ids, names, or the beginnings of ids."""
    origin: Origin
    """The object with the annotation, or the comment."""
    reason: str = ""
    until: date | None = None
    """The last day on which it holds."""
    undated: str = ""
    """What stands in the place of that day, and is no date."""
    subject: ObjectRef | None = None
    """The object that it is about."""
    field: str = ""
    """The annotation of the object."""
    lines: range = range(0)

    @property
    def how(self) -> How:
        """How it is written."""
        return "annotation" if self.subject else "comment"

    def holds(self, today: date | None) -> bool:
        """Whether it counts on a day, or ever, where nobody says which day it is."""
        return not self.undated and not (self.until and today and today > self.until)

    def covers(self, finding: Finding, lines: Iterable[int]) -> bool:
        """Whether a finding on some lines is about the same object or lines, whatever the rule is."""
        if self.subject:
            return finding.subject == self.subject
        origin = finding.origin
        return origin is not None and origin.source == self.origin.source and any(map(self.lines.__contains__, lines))


def suppressions_of(world: Linted) -> Sequence[Suppression]:
    """What the annotations of objects that are linted say, and then the comments in the files that were read."""
    said: list[Suppression] = []
    sources = {each.origin.source for each in world.snapshot.diagnostics if each.origin and each.origin.line}
    for resource in world.resources:
        if resource.origin.line:
            sources.add(resource.origin.source)
        annotations = mapping_at(resource.raw, "metadata.annotations")
        # Nearly all objects have none, or those of others.
        if annotations and any(_OURS in key for key in annotations):
            said += _by_annotations(resource)
    for source in sorted(sources):
        said += [each for comment in world.comments_of(source) for each in _by_comment(comment, source)]
    return tuple(said)


def _by_annotations(resource: Resource) -> Iterator[Suppression]:
    annotations = mapping_at(resource.raw, "metadata.annotations")
    why = annotations.get(REASON)
    for key, said in annotations.items():
        text = said if isinstance(said, str) else ""
        if key == LISTED:
            rest, until, undated = _without_date(text)
            reason, later, unclear = _without_date(why if isinstance(why, str) else "")
            names: Sequence[str] = _RULES.split(rest)
            until, undated = until or later, undated or unclear
        elif key.startswith(SINGLE):
            reason, until, undated = _without_date(text)
            names = [key.removeprefix(SINGLE)]
        else:
            continue
        yield Suppression(
            names=tuple(dict.fromkeys(filter(None, names))),
            origin=resource.origin,
            reason=reason,
            until=until,
            undated=undated,
            subject=resource.ref,
            # No path says a key with a quote in it.
            field=str(_ANNOTATIONS if '"' in key else _ANNOTATIONS / key),
        )


def _by_comment(comment: Comment, source: str) -> Iterator[Suppression]:
    command = _IGNORE.match(comment.says)
    if command is None:
        return
    rest, until, undated = _without_date(comment.says[command.end() :].strip(_AROUND))
    names: list[str] = []
    at = 0
    while found := _RULE.match(rest, at):
        names.append(found[1])
        at = found.end()
        # Without anything that tells of another rule, this was the last one.
        if found.end() == found.end(1):
            break
    yield Suppression(
        names=tuple(dict.fromkeys(names)),
        origin=Origin(source, comment.line),
        reason=rest[at:].strip(_AROUND),
        until=until,
        undated=undated,
        lines=comment.lines,
    )


def _without_date(text: str) -> tuple[str, date | None, str]:
    """A text without `until=DATE`, with that date or what stands in its place."""
    found = _UNTIL.search(text)
    if found is None:
        return text.strip(_AROUND), None, ""
    rest = f"{text[: found.start()].rstrip(_AROUND)} {text[found.end() :].lstrip(_AROUND)}".strip(_AROUND)
    try:
        until = date.fromisoformat(found[2]) if _DATE.fullmatch(found[2]) else None
    except ValueError:
        until = None
    return rest, until, "" if until else f"until={found[2]}"
