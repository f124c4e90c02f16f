"""Manifests to a snapshot: every file that is meant, every object in it, and everything that could not be read."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, BinaryIO, Final, TextIO, TypeAlias

from kubectl_policy.errors import SourceError
from kubectl_policy.model import Diagnostic, Gap, GroupKind, ObjectRef, Origin, Problem, Resource, Snapshot
from kubectl_policy.model.fields import mapping_at, time_at
from kubectl_policy.model.kinds import (
    CRD,
    counting_definitions,
    impossible,
    known_kinds,
    names_in_crd,
    problem_of_definition,
)
from kubectl_policy.model.values import value
from kubectl_policy.sources.files import STDIN, find_files, read_stdin, read_text, reason_of
from kubectl_policy.text import UNRENDERED, DocumentError
from kubectl_policy.text.documents import DocumentReader

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from kubectl_policy.model import Json, Severity
    from kubectl_policy.sources.files import InputFile
    from kubectl_policy.text import Document

# API groups of files that command-line tools and components read, and that no API server stores.
_CLIENT_SIDE_GROUPS: Final = frozenset(
    {
        "apiserver.config.k8s.io",
        "audit.k8s.io",
        "builtin",
        "client.authentication.k8s.io",
        "kind.x-k8s.io",
        "krew.googlecontainertools.github.com",
        "kubeadm.k8s.io",
        "kubectl.config.k8s.io",
        "kubelet.config.k8s.io",
        "kubeproxy.config.k8s.io",
        "kubescheduler.config.k8s.io",
        "kustomize.config.k8s.io",
    }
)
_KUBECONFIG: Final = GroupKind("", "Config")


@value(kw_only=True)
class Unnamed:
    """An object that no reference can be made to, and why; `kind` is empty where it is not known."""

    kind: str = ""
    namespace: str = ""
    diagnostic: Diagnostic
    may_exist: bool = False


# An object that names no namespace has an empty one. None is what is no Kubernetes object at all, and counted only.
Content: TypeAlias = Resource | Unnamed | None

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


def snapshot_of(
    files: Sequence[InputFile], text_of: Callable[[str], str], *, namespace: str, complete: bool
) -> Snapshot:
    """The objects in files, of which the texts are given by path: see `load_manifests`.

    `text_of` may raise OSError, ValueError and DocumentError. Raises SourceError where there is no object in them.
    """
    reading = _Reading()
    for file in files:
        reading.read_file(file, text_of)
    if not reading.objects:
        raise _nothing_found(reading, files)
    resources = _resources(reading, namespace)
    # The order of files is nobody's statement: what is said of them does not depend on it.
    gaps = sorted(reading.gaps, key=lambda gap: (gap.origin or Origin(""), gap.kind, gap.namespace, gap.reason))
    diagnostics = sorted(reading.diagnostics, key=lambda said: (said.origin or Origin(""), said.rule, said.message))
    return Snapshot(resources, tuple(gaps), tuple(diagnostics), complete, reading.ignored)


class _Reading:
    """What has been read so far."""

    def __init__(self) -> None:
        self.objects: list[Resource] = []
        self.gaps: list[Gap] = []
        self.diagnostics: list[Diagnostic] = []
        self.ignored = 0
        self._documents = DocumentReader()

    def read_file(self, file: InputFile, text_of: Callable[[str], str]) -> None:
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
        replace(read, ref=read.ref._replace(namespace="")) for read in reading.objects if read.ref.group_kind == CRD
    ]
    reading.diagnostics.extend(_wrong_definitions(definitions))
    cluster_scoped = {kind for kind, names in known_kinds(definitions).items() if not names.namespaced}
    resources: dict[ObjectRef, Resource] = {}
    for read in reading.objects:
        home = "" if read.ref.group_kind in cluster_scoped else read.ref.namespace or namespace
        resource = read if home == read.ref.namespace else replace(read, ref=read.ref._replace(namespace=home))
        if resource.ref in resources:
            reading.diagnostics.append(_duplicate(resources[resource.ref], resource))
        resources[resource.ref] = resource
    return tuple(resources.values())


def _wrong_definitions(definitions: Sequence[Resource]) -> Iterator[Diagnostic]:
    counting = counting_definitions(definitions)
    for definition in definitions:
        problem = problem_of_definition(definition)
        if problem:
            message = f"{definition.ref}: {problem.message}"
            yield Diagnostic(problem.reason, "warning", message, definition.ref, origin=definition.origin)
        names = names_in_crd(definition)
        first = counting[names.group_kind] if names else definition
        if names and first.ref != definition.ref:
            message = (
                f"{definition.ref.name} defines {names.group_kind}, which {first.ref.name} does in {first.origin}: "
                "an API server takes the older one, then the first by name; remove one of the two"
            )
            yield Diagnostic(
                "kind-defined-twice",
                "warning",
                message,
                definition.ref,
                "spec.names.kind",
                definition.origin,
                related=(first.ref,),
            )


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


def _nothing_found(reading: _Reading, files: Sequence[InputFile]) -> SourceError:
    if reading.diagnostics:
        first = reading.diagnostics[0]
        return SourceError(f"{first.origin}: {first.message}", "nothing else could be read either")
    looked_at = "1 file" if len(files) == 1 else f"{len(files)} files"
    what = "1 document" if reading.ignored == 1 else f"{reading.ignored} documents"
    return SourceError(
        f"no Kubernetes object in {looked_at} with {what}",
        "name files or folders with manifests, or pipe `kubectl get -o yaml` to `-`",
    )


def contents_of(document: Document, source: str) -> Iterator[Content]:
    """The objects in a document: itself, or the items of a List however deep it is in other Lists."""
    rest: list[tuple[Json, tuple[int, ...], int]] = [(document.value, (), document.line)]
    while rest:
        value, position, line = rest.pop()
        items = _items_of(value)
        if items is None:
            yield _content(value, Origin(source, line))
        else:
            places = [(item, (*position, number)) for number, item in enumerate(items)]
            rest.extend((item, place, document.item_lines.get(place, line)) for item, place in reversed(places))


def _items_of(value: Json) -> list[Json] | None:
    """The items of a List as objects; None of anything else.

    In a List of one kind, as the API itself gives it, the items do not repeat the kind (`HTTPRouteList`).
    """
    if not isinstance(value, dict) or "items" not in value or "apiVersion" not in value:
        return None
    items, kind = value["items"], value.get("kind")
    if not isinstance(kind, str) or not kind.endswith("List") or not isinstance(items, list | None):
        return None
    item_kind = kind.removesuffix("List")
    known: dict[str, Json] = {"apiVersion": value["apiVersion"], "kind": item_kind} if item_kind else {}
    return [{**known, **item} if known and isinstance(item, dict) else item for item in items or ()]


def _content(value: Json, origin: Origin) -> Content:
    if not isinstance(value, dict) or ("apiVersion" not in value and "kind" not in value):
        return None
    api_version, kind = value.get("apiVersion"), value.get("kind")
    if not (api_version and isinstance(api_version, str) and kind and isinstance(kind, str)):
        return None if _is_chart(value) else _without_kind(origin)
    group_kind = GroupKind(api_version.rpartition("/")[0], kind)
    if group_kind.group in _CLIENT_SIDE_GROUPS or group_kind == _KUBECONFIG:
        return None
    return _named(group_kind, value, origin)


def _is_chart(raw: Mapping[str, Json]) -> bool:
    """Whether this is a Helm chart's Chart.yaml, which has an apiVersion although it is nothing of Kubernetes."""
    return "kind" not in raw and {"name", "version"} <= raw.keys()


def _without_kind(origin: Origin) -> Unnamed:
    message = "an object needs both apiVersion and kind, as text: add what is missing, or leave the file out"
    return Unnamed(diagnostic=Diagnostic("no-kind", "warning", message, origin=origin))


def _named(group_kind: GroupKind, raw: Mapping[str, Json], origin: Origin) -> Resource | Unnamed:
    metadata = mapping_at(raw, "metadata")
    name, namespace = metadata.get("name"), metadata.get("namespace")
    if "{{" in f"{group_kind.group} {group_kind.kind} {name} {namespace}":
        diagnostic = Diagnostic("unrendered-template", "warning", UNRENDERED, origin=origin)
        return Unnamed(diagnostic=diagnostic, may_exist=True)
    if impossible(group_kind):
        message = f"no API can have {impossible(group_kind)}: it takes letters, digits and hyphens"
        return Unnamed(diagnostic=Diagnostic("no-kind", "warning", message, origin=origin))
    if name and isinstance(name, str) and (namespace is None or isinstance(namespace, str)):
        ref = ObjectRef(group_kind, namespace or "", name)
        return Resource(ref, origin, raw, time_at(raw, "metadata.creationTimestamp"))
    field = "metadata.namespace" if name and isinstance(name, str) else "metadata.name"
    message = f"{field} must be text: only an object with a fixed name can be referred to"
    return Unnamed(
        kind=group_kind.kind,
        namespace=namespace if isinstance(namespace, str) else "",
        diagnostic=Diagnostic("no-name", "warning", message, field=field, origin=origin),
        may_exist=bool(metadata.get("generateName")),
    )
