"""Manifests to a snapshot: every file that is meant, every object in it, and everything that could not be read.

They are on disk, on standard input, or in a revision of a git repository.
"""

from __future__ import annotations

import glob
import os
from dataclasses import replace
from typing import TYPE_CHECKING, BinaryIO, Final, TextIO

import yaml

from kubectl_policy.errors import SourceError, UsageError
from kubectl_policy.model import Diagnostic, FieldPath, Gap, GroupKind, ObjectRef, Origin, Problem, Resource, Snapshot
from kubectl_policy.model.fields import mapping_at, time_at
from kubectl_policy.model.kinds import (
    CRD,
    counting_definitions,
    impossible,
    known_kinds,
    names_in_crd,
    problem_of_definition,
)
from kubectl_policy.sources.files import STDIN, find_files, read_stdin, read_text, reason_of
from kubectl_policy.sources.options import InputOptions
from kubectl_policy.text import UNRENDERED, DocumentError
from kubectl_policy.text.documents import DocumentReader
from kubectl_policy.text.places import line_in

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
AS_IT_IS: Final = InputOptions()


# A template is read by somebody else; everything else that cannot be read is a mistake.
_SEVERITIES: Final[dict[str, Severity]] = {"unrendered-template": "warning"}


def load_manifests(
    paths: Iterable[str | Path],
    *,
    options: InputOptions = AS_IT_IS,
    stdin: TextIO | BinaryIO | None = None,
) -> Snapshot:
    """The objects in files, folders (searched recursively), glob patterns and, for `-`, standard input.

    What cannot be read is a diagnostic and a gap. Raises SourceError where a path names nothing, cannot be read, or
    where there is no object in all of them.
    """

    def text_of(path: str) -> str:
        return read_stdin(stdin) if path == STDIN else read_text(path)

    return snapshot_of(find_files(paths), text_of, options)


def load_state(
    operand: str,
    *,
    options: InputOptions = AS_IT_IS,
    stdin: TextIO | BinaryIO | None = None,
) -> Snapshot:
    """The objects in what `load_manifests` takes as a path or, if there is no such file, in `REV:PATH` of git.

    REV is whatever git takes for a commit or a tree, or empty for the index. PATH is a file or a folder; it starts at
    the root of the repository, which is PATH itself if it is empty, or with `./` at the current directory. Everything
    else is as for `load_manifests`. Nothing is checked out, written or fetched. Raises SourceError also where git has
    no such revision or path, and UsageError for the word `live`.
    """
    if operand == "-" or os.path.exists(operand):  # noqa: PTH110 (a Path raises OSError for what is too long for one)
        return load_manifests([operand], options=options, stdin=stdin)
    if operand == "live":
        raise UsageError("live clusters are not supported yet", "name a file, a folder or REV:PATH in git instead")
    # Most input is files, and what only git needs takes time to import.
    from kubectl_policy.sources.revisions import open_revision, revision_and_path  # noqa: PLC0415 (see above)

    parts = revision_and_path(operand)
    if parts is None:
        _check_no_revision(operand)
        return load_manifests([operand], options=options)
    name, path = parts
    with open_revision(name) as revision:
        return snapshot_of(revision.find(path), revision.read_text, options)


def _check_no_revision(word: str) -> None:
    """Raise SourceError for a revision without a path; `load_manifests` says what is wrong with anything else."""
    from kubectl_policy.sources.git import tree_of  # noqa: PLC0415 (see load_state)

    try:
        is_revision = not glob.has_magic(word) and bool(tree_of(word))
    except SourceError:
        return
    if is_revision:
        message = f"{word}: there is no such file or folder"
        raise SourceError(message, f"write {word}:PATH for the files in a git revision")


def snapshot_of(files: Sequence[InputFile], text_of: Callable[[str], str], options: InputOptions) -> Snapshot:
    """The objects in files, of which the texts are given by path: see `load_manifests`.

    `text_of` may raise OSError, ValueError and DocumentError. Raises SourceError where there is no object in them.
    """
    reading = _Reading(options.values)
    for file in files:
        reading.read_file(file, text_of)
    if not reading.objects:
        raise _nothing_found(reading, files)
    resources = _resources(reading, options.namespace)
    # The order of files means nothing: what is said of them does not depend on it.
    gaps = sorted(reading.gaps, key=lambda gap: (gap.origin or Origin(""), gap.kind, gap.namespace, gap.reason))
    diagnostics = sorted(reading.diagnostics, key=lambda said: (said.origin or Origin(""), said.rule, said.message))
    return Snapshot(
        resources=resources,
        gaps=tuple(gaps),
        diagnostics=tuple(diagnostics),
        complete=options.complete,
        ignored=reading.ignored,
    )


class _Reading:
    """What has been read so far."""

    def __init__(self, values: Mapping[str, str]) -> None:
        self._values = values
        self.objects: list[Resource] = []
        self.gaps: list[Gap] = []
        self.diagnostics: list[Diagnostic] = []
        self.ignored = 0
        self._documents = DocumentReader()

    def read_file(self, file: InputFile, text_of: Callable[[str], str]) -> None:
        """Read a file; what keeps it from being read is noted."""
        try:
            text = text_of(file.path) if not file.problem else ""
            if self._values:
                from kubectl_policy.text.substitution import substitute  # noqa: PLC0415 (few inputs need it)

                text = substitute(text, self._values)
        except DocumentError as error:
            self._note(error.problem, file.path)
            return
        except (OSError, ValueError) as error:
            self._note(Problem(message=reason_of(error), reason="unreadable"), file.path)
            return
        if file.problem:
            self._note(Problem(message=file.problem, reason="unreadable"), file.path)
        for document in self._documents.read(text):
            if isinstance(document, Problem):
                self._note(document, file.path)
            else:
                self._read_document(document, file.path)

    def _note(self, problem: Problem, source: str) -> None:
        origin = Origin(source, problem.line)
        severity = _SEVERITIES.get(problem.reason, "error")
        self.diagnostics.append(Diagnostic(problem.reason, severity, problem.message, origin=origin))
        self.gaps.append(Gap(kind="", namespace="", reason=problem.message, origin=origin))

    def _read_document(self, document: Document, source: str) -> None:
        """Read the object in a document, or the items of a List however deep it is in other Lists."""
        for problem in document.problems:
            message = f"{problem.message}, and kubectl refuses that: remove one of the two; here, the last one counts"
            origin = Origin(source, problem.line)
            self.diagnostics.append(Diagnostic(problem.reason, "error", message, origin=origin))
        rest: list[tuple[Json, tuple[int, ...], int]] = [(document.value, (), document.line)]
        while rest:
            value, position, line = rest.pop()
            items = _items_of(value)
            if items is None:
                self._read_object(value, Origin(source, line))
            else:
                places = [(item, (*position, number)) for number, item in enumerate(items)]
                rest.extend((item, place, document.item_lines.get(place, line)) for item, place in reversed(places))

    def _read_object(self, value: Json, origin: Origin) -> None:
        """Keep an object, or say why none can refer to it; what is no Kubernetes object at all is counted only."""
        raw = value if isinstance(value, dict) else {}
        api_version, kind = raw.get("apiVersion"), raw.get("kind")
        typed = bool(api_version and isinstance(api_version, str) and kind and isinstance(kind, str))
        group_kind = GroupKind(str(api_version).rpartition("/")[0], str(kind))
        # A Helm chart's Chart.yaml has an apiVersion.
        is_chart = "kind" not in raw and {"name", "version"} <= raw.keys()
        of_client = typed and (group_kind.group in _CLIENT_SIDE_GROUPS or group_kind == _KUBECONFIG)
        metadata = mapping_at(raw, "metadata")
        name, namespace = metadata.get("name"), metadata.get("namespace")
        if not {"apiVersion", "kind"} & raw.keys() or is_chart or of_client:
            self.ignored += 1
        elif not typed:
            message = "an object needs both apiVersion and kind, as text: add what is missing, or leave the file out"
            self._warn("no-kind", message, origin)
        elif "{{" in f"{group_kind.group} {group_kind.kind} {name} {namespace}":
            self._warn("unrendered-template", UNRENDERED, origin)
            self.gaps.append(Gap(kind="", namespace="", reason=UNRENDERED, origin=origin))
        elif impossible(group_kind):
            message = f"no API can have {impossible(group_kind)}: it takes letters, digits and hyphens"
            self._warn("no-kind", message, origin)
        elif name and isinstance(name, str) and isinstance(namespace, str | None):
            ref = ObjectRef(group_kind, namespace or "", name)
            self.objects.append(
                Resource(ref=ref, origin=origin, raw=raw, created=time_at(raw, "metadata.creationTimestamp"))
            )
        else:
            field = "metadata.namespace" if name and isinstance(name, str) else "metadata.name"
            message = f"{field} must be text: only an object with a fixed name can be referred to"
            self._warn("no-name", message, origin, field)
            if metadata.get("generateName"):
                self.gaps.append(
                    Gap(
                        kind=group_kind.kind,
                        namespace=namespace if isinstance(namespace, str) else "",
                        reason=message,
                        origin=origin,
                    )
                )

    def _warn(self, rule: str, message: str, origin: Origin, field: str = "") -> None:
        self.diagnostics.append(Diagnostic(rule, "warning", message, field=field, origin=origin))


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
        first = resources.get(resource.ref)
        # What lacks a spec may be meant to patch the one that has it.
        is_part = first is not None and "spec" in first.raw and "spec" not in resource.raw
        if first:
            where = "there" if is_part else "here"
            same = first.raw == resource.raw
            message = f"{first.ref} is also in {first.origin}, " + (
                "with the same content"
                if same
                else f"with other content; what is {where} counts: remove one of the two"
            )
            severity: Severity = "info" if same else "warning"
            reading.diagnostics.append(
                Diagnostic(
                    rule="duplicate-object",
                    severity=severity,
                    message=message,
                    subject=first.ref,
                    origin=resource.origin,
                )
            )
        if not is_part:
            resources[resource.ref] = resource
    return tuple(resources.values())


def _wrong_definitions(definitions: Sequence[Resource]) -> Iterator[Diagnostic]:
    counting = counting_definitions(definitions)
    for definition in definitions:
        problem = problem_of_definition(definition)
        if problem:
            message = f"{definition.ref}: {problem.message}"
            yield Diagnostic(
                rule=problem.reason,
                severity="warning",
                message=message,
                subject=definition.ref,
                origin=definition.origin,
            )
        names = names_in_crd(definition)
        first = counting[names.group_kind] if names else definition
        if names and first.ref != definition.ref:
            message = (
                f"{definition.ref.name} defines {names.group_kind}, which {first.ref.name} does in {first.origin}: "
                "an API server takes the older one, then the first by name; remove one of the two"
            )
            yield Diagnostic(
                rule="kind-defined-twice",
                severity="warning",
                message=message,
                subject=definition.ref,
                field="spec.names.kind",
                origin=definition.origin,
                related=(first.ref,),
            )


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


def locate(origin: Origin, path: str) -> int | None:
    """The line (from 1) of a field, `spec.listeners[0].port`, of the object that starts at an origin.

    None where it cannot be told: from standard input, if the file has changed, or if the field is not written there.
    """
    if origin.source == STDIN or not origin.line:
        return None
    try:
        return line_in(_text_at(origin.source), origin.line, FieldPath.parse(path))
    except (OSError, ValueError, OverflowError, DocumentError, SourceError, yaml.YAMLError):
        return None


def _text_at(source: str) -> str:
    """The text of a file or, if there is none, of the one that `REV:PATH` names."""
    try:
        return read_text(source)
    except OSError:
        if ":" not in source:
            raise
        from kubectl_policy.sources.revisions import read_revision  # noqa: PLC0415 (most input is files)

        return read_revision(source)
