"""Manifests to a snapshot: every file that is meant, every object in it, and everything that could not be read."""

from __future__ import annotations

from typing import TYPE_CHECKING, BinaryIO, Final, TextIO

from kubectl_policy.errors import SourceError
from kubectl_policy.model import Diagnostic, Gap, ObjectRef, Origin, Problem, Resource, Snapshot
from kubectl_policy.model.kinds import CRD, known_kinds
from kubectl_policy.sources.files import STDIN, find_files, read_stdin, read_text, reason_of
from kubectl_policy.sources.objects import Named, Unnamed, contents_of, created_at
from kubectl_policy.text import DocumentError
from kubectl_policy.text.documents import DocumentReader

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    from kubectl_policy.model import Severity
    from kubectl_policy.sources.files import Found

# A template is read by somebody else; everything else that cannot be read is a mistake.
_SEVERITIES: Final[dict[str, Severity]] = {"unrendered-template": "warning"}


def load_manifests(
    paths: Iterable[str | Path],
    *,
    namespace: str = "default",
    complete: bool = False,
    stdin: TextIO | BinaryIO | None = None,
) -> Snapshot:
    """The objects in files, folders (searched recursively), glob patterns and, for `-`, standard input.

    `namespace` is where objects live that have a namespace and name none; `complete` says that what is not here does
    not exist. What cannot be read is a diagnostic and a gap. Raises SourceError where a path names nothing, cannot be
    read, or where there is no object in all of them.
    """

    def text_of(path: str) -> str:
        return read_stdin(stdin) if path == STDIN else read_text(path)

    return snapshot_of(find_files(paths), text_of, namespace=namespace, complete=complete)


def snapshot_of(files: Sequence[Found], text_of: Callable[[str], str], *, namespace: str, complete: bool) -> Snapshot:
    """The objects in files, of which the texts are given by path: see `load_manifests`.

    `text_of` may raise OSError, ValueError and DocumentError. Raises SourceError where there is no object in them.
    """
    reading = _Reading()
    for file in files:
        reading.read_file(file, text_of)
    if not reading.objects:
        raise _nothing_found(reading, files)
    resources = _resources(reading, namespace)
    return Snapshot(resources, tuple(reading.gaps), tuple(reading.diagnostics), complete, reading.ignored)


class _Reading:
    """What has been read so far."""

    def __init__(self) -> None:
        self.objects: list[Named] = []
        self.gaps: list[Gap] = []
        self.diagnostics: list[Diagnostic] = []
        self.ignored = 0
        self._documents = DocumentReader()

    def read_file(self, file: Found, text_of: Callable[[str], str]) -> None:
        """Read a file; what keeps it from being read is noted."""
        if file.problem:
            self._note(Problem(message=file.problem, reason="unreadable"), file.path)
            return
        try:
            text = text_of(file.path)
        except DocumentError as error:
            self._note(error.problem, file.path)
        except (OSError, ValueError) as error:
            self._note(Problem(message=reason_of(error), reason="unreadable"), file.path)
        else:
            self._read_text(text, file.path)

    def _read_text(self, text: str, source: str) -> None:
        for document in self._documents.read(text):
            if isinstance(document, Problem):
                self._note(document, source)
                continue
            self.diagnostics.extend(_repeated_key(problem, source) for problem in document.problems)
            for content in contents_of(document, source):
                if content is None:
                    self.ignored += 1
                elif isinstance(content, Unnamed):
                    self._note_unnamed(content)
                else:
                    self.objects.append(content)

    def _note(self, problem: Problem, source: str) -> None:
        origin = Origin(source, problem.line)
        severity = _SEVERITIES.get(problem.reason, "error")
        self.diagnostics.append(Diagnostic(problem.reason, severity, problem.message, origin=origin))
        self.gaps.append(Gap("", "", problem.message, origin))

    def _note_unnamed(self, unnamed: Unnamed) -> None:
        diagnostic = unnamed.diagnostic
        self.diagnostics.append(diagnostic)
        if unnamed.may_exist:
            self.gaps.append(Gap(unnamed.kind, unnamed.namespace, diagnostic.message, diagnostic.origin))


def _resources(reading: _Reading, namespace: str) -> tuple[Resource, ...]:
    """One resource for each name; only now, with every definition at hand, is it known which kinds have namespaces."""
    definitions = [
        Resource(ObjectRef(CRD, "", found.name), found.origin, found.raw)
        for found in reading.objects
        if found.group_kind == CRD
    ]
    cluster_scoped = {kind for kind, names in known_kinds(definitions).items() if not names.namespaced}
    resources: dict[ObjectRef, Resource] = {}
    for found in reading.objects:
        home = "" if found.group_kind in cluster_scoped else found.namespace or namespace
        ref = ObjectRef(found.group_kind, home, found.name)
        resource = Resource(ref, found.origin, found.raw, created_at(found.raw))
        if ref in resources:
            reading.diagnostics.append(_duplicate(resources[ref], resource))
        resources[ref] = resource
    return tuple(resources.values())


def _repeated_key(problem: Problem, source: str) -> Diagnostic:
    message = f"{problem.message}, and kubectl refuses that: remove one of the two; here, the last one counts"
    return Diagnostic(problem.reason, "error", message, origin=Origin(source, problem.line))


def _duplicate(first: Resource, second: Resource) -> Diagnostic:
    same = first.raw == second.raw
    message = f"{first.ref} is also in {first.origin}, " + (
        "with the same content" if same else "with other content; what is here counts: remove one of the two"
    )
    severity: Severity = "info" if same else "warning"
    return Diagnostic("duplicate-object", severity, message, first.ref, origin=second.origin)


def _nothing_found(reading: _Reading, files: Sequence[Found]) -> SourceError:
    if reading.diagnostics:
        first = reading.diagnostics[0]
        return SourceError(f"{first.origin}: {first.message}", "nothing else could be read either")
    looked_at = "1 file" if len(files) == 1 else f"{len(files)} files"
    what = "1 document" if reading.ignored == 1 else f"{reading.ignored} documents"
    return SourceError(
        f"no Kubernetes object in {looked_at} with {what}",
        "name files or folders with manifests, or pipe `kubectl get -o yaml` to `-`",
    )
