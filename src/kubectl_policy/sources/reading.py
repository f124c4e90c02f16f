"""Read the documents of files: objects, gaps and diagnostics for what cannot be read, and a count of the rest."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from itertools import chain
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from kubectl_policy.model import Diagnostic, Gap, GroupKind, ObjectRef, Origin, Problem, Resource
from kubectl_policy.model.body import Body
from kubectl_policy.model.fields import time_at
from kubectl_policy.model.kinds import why_impossible
from kubectl_policy.sources.files.decoding import PackedError
from kubectl_policy.sources.files.input_files import ABOUT_OTHERS
from kubectl_policy.sources.files.tree import reason_of
from kubectl_policy.sources.mentions import ANYTHING, gap_of_text, looks_like_an_object, may_hold_objects, mentions_of
from kubectl_policy.sources.not_objects import IN_TEXT, is_meant_as_an_object, what_is_no_object
from kubectl_policy.text import UNRENDERED, Document, DocumentError, Unread, inherited_fields
from kubectl_policy.text.documents import DocumentReader, objects_in

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    from kubectl_policy.model import Json, Severity
    from kubectl_policy.sources.files.input_files import InputFile
    from kubectl_policy.sources.lines import Lines
    from kubectl_policy.sources.rendered_origins import Origins
    from kubectl_policy.text.lines import TextLines

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
        # Answers of this program, and baselines that it wrote.
        "policy.kubectl",
    }
)
# What something else fills in, where a kind or a group should be.
_IN_PLACEHOLDERS: Final = frozenset("{}$<>[]")
_OF_UNKNOWN_KIND: Final = "an object of which the kind or its API is a placeholder: fill it in first"
_WITHOUT_KIND: Final = "an object needs both apiVersion and kind, as text: add what is missing, or leave the file out"
_ABOUT_OTHERS: Final = tuple(ABOUT_OTHERS)
# So many problems of one rule are reported for one file.
MAX_ALIKE: Final = 1_000
_KUBECONFIG: Final = GroupKind("", "Config")
_NO_FIELDS: Final[Mapping[str, Json]] = MappingProxyType({})


class Reading:
    """Objects that were read so far, in their order, and problems with the rest."""

    def __init__(self, values: Mapping[str, str], lines: Lines | None = None, origins: Origins | None = None) -> None:
        """Start without having read anything; variables have these values.

        `lines` are told what is read, and so are `origins`, if it matters where things come from.
        """
        self._values, self._lines, self.origins = values, lines, origins
        self.objects: list[Resource] = []
        # The kinds of objects that were met, by version and kind, of which nothing is to be said.
        self._usual_kinds: dict[tuple[Json, Json], GroupKind] = {}
        self.listed: set[tuple[GroupKind, str]] = set()
        self.gaps: list[Gap] = []
        self.diagnostics: list[Diagnostic] = []
        # The number of diagnostics by source and rule.
        self.numbers: dict[tuple[str, str], int] = {}
        self.ignored = 0
        # What is said in files about other files, by their paths; None where it cannot be read.
        self.others: dict[str, Document | None] = {}
        # The texts in which something may be to be filled in, by file.
        self.with_variables: dict[str, str] = {}
        # What is wrong with files that were named and hold no object: said only if there is none anywhere.
        self.unexplained: list[Diagnostic] = []
        self._documents = DocumentReader()
        # The files with words that are booleans to kubectl and text to Kustomize, and those that Kustomize reads.
        self.with_old_booleans: set[str] = set()
        self.kustomized: set[str] = set()
        self._kustomized_documents = DocumentReader(old_booleans_are_text=True)

    def read_file(self, file: InputFile, text_of: Callable[[str], str]) -> None:
        """Read a file; what keeps it from being read is noted. Raises PackedError for a snapshot that was named."""
        # In a revision of git, a file may be at the top.
        if file.path.endswith(_ABOUT_OTHERS) and file.path.rpartition("/")[2].rpartition(":")[2] in ABOUT_OTHERS:
            self.others[file.path] = None
        try:
            text = text_of(file.path) if not file.problem else ""
            if self._values:
                from kubectl_policy.text.substitution import substitute  # noqa: PLC0415 (few inputs need it)

                text = substitute(text, self._values)
        except DocumentError as error:
            if isinstance(error, PackedError) and error.is_snapshot and not file.root:
                raise
            if error.letters and file.root and not looks_like_an_object(error.letters):
                self.ignored += 1
            else:
                self.note(error.problem, file.path, gap_of_text(error.letters))
            return
        except (OSError, ValueError) as error:
            self.note(Problem(message=reason_of(error), reason="unreadable"), file.path)
            return
        # To look for one letter takes a tenth of the time.
        if "$" in text and "${" in text:
            self.with_variables[file.path] = text
        if file.problem:
            self.note(Problem(message=file.problem, reason="unreadable"), file.path)
        elif file.root and file.path not in self.others and not may_hold_objects(text):
            self.ignored += 1
        else:
            self._read_text(text, file)

    def anew(self) -> Reading:
        """Return a reading of files that were read before, with variables that are filled in by now."""
        return Reading({}, self._lines, self.origins)

    def copy(self) -> Reading:
        """Return a reading that goes on from here; what is read in one of them is not in the other one."""
        copied = copy(self)
        copied.objects, copied.gaps, copied.diagnostics = [*self.objects], [*self.gaps], [*self.diagnostics]
        copied.listed, copied.others, copied.numbers = {*self.listed}, {**self.others}, {**self.numbers}
        copied.with_variables, copied.with_old_booleans = {**self.with_variables}, {*self.with_old_booleans}
        return copied

    @property
    def kinds(self) -> frozenset[GroupKind]:
        """The kinds of the objects."""
        return frozenset(resource.ref.group_kind for resource in self.objects)

    def of_kind(self, kind: GroupKind) -> list[Resource]:
        """Return the objects of a kind."""
        return [resource for resource in self.objects if resource.ref.group_kind == kind]

    def forget(self, sources: Collection[str]) -> None:
        """Forget what was read in some files."""
        self.objects = [resource for resource in self.objects if resource.origin.source not in sources]
        self.gaps = [gap for gap in self.gaps if not gap.origin or gap.origin.source not in sources]
        self.diagnostics = [
            diagnostic
            for diagnostic in self.diagnostics
            if not diagnostic.origin or diagnostic.origin.source not in sources
        ]
        self.numbers = {key: number for key, number in self.numbers.items() if key[0] not in sources}

    def _read_text(self, text: str, file: InputFile) -> None:
        """Read the documents of a file; if none is meant as an object, it is no manifest, whatever else is in it."""
        if self.origins:
            self.origins.read_notes(file.path, text)
        reader = self._kustomized_documents if file.path in self.kustomized else self._documents
        ambiguous = reader.ambiguous
        documents = reader.read(text)
        # The documents up to the first one that is meant as an object, if any is.
        first: list[Document | Unread] = []
        is_manifest = False
        while not is_manifest and (document := next(documents, None)):
            first.append(document)
            is_manifest = is_meant_as_an_object(document)
        if file.path in self.others:
            content = next(
                (document for document in first if isinstance(document, Unread) or document.content is not None), None
            )
            self.others[file.path] = content if isinstance(content, Document) else None
        if is_manifest:
            self._read_documents(chain(first, documents), file.path, text)
        else:
            self.ignored += 1
            if not file.root:
                closer = Reading(self._values)
                # In a file without objects, other values are not in the place of one.
                unclear = [found for found in first if isinstance(found, Unread) or isinstance(found.content, Mapping)]
                closer._read_documents(unclear, file.path, text)
                self.unexplained += closer.diagnostics
        if reader.ambiguous > ambiguous:
            self.with_old_booleans.add(file.path)

    def _read_documents(self, documents: Iterable[Document | Unread], source: str, text: str) -> None:
        lines: TextLines | None = None
        for document in documents:
            if isinstance(document, Unread):
                self.note(document.problem, source, gap_of_text(document.text))
                continue
            if self._lines:
                lines = lines or self._lines.add_text(source, text)
                lines.note(document.span)
            self._read_document(document, source)

    def note(self, problem: Problem, source: str, gap: Gap = ANYTHING) -> None:
        """Note that something in a source cannot be read: a diagnostic, and a gap with what is known of it."""
        origin = Origin(source, problem.line)
        # A template is read by somebody else; everything else that cannot be read is a mistake.
        severity: Severity = "warning" if problem.reason == "unrendered-template" else "error"
        diagnostic = Diagnostic(problem.reason, severity, problem.message, origin=origin)
        self._add(diagnostic, replace(gap, reason=problem.message, origin=origin))

    def _add(self, diagnostic: Diagnostic, gap: Gap | None = None) -> None:
        """Keep a diagnostic, and a gap; after many of the same rule in one source, one more stands for the rest."""
        origin = diagnostic.origin or Origin("")
        if self.diagnostics and self.diagnostics[-1] == diagnostic:
            return
        key = origin.source, diagnostic.rule
        number = self.numbers[key] = self.numbers.get(key, 0) + 1
        if number > MAX_ALIKE:
            message = f"more problems like the {MAX_ALIKE:,} above it: no more of them are reported for this file"
            diagnostic = replace(diagnostic, message=message, field="")
            gap = gap and replace(ANYTHING, reason=message, origin=origin)
        if number <= MAX_ALIKE + 1:
            self.diagnostics.append(diagnostic)
            self.gaps += [gap] if gap else []

    def _read_document(self, document: Document, source: str) -> None:
        """Read the object in a document, or the items of a List however deep it is in other Lists."""
        for problem in document.problems:
            message = f"{problem.message}, and kubectl refuses that: remove one of the two; here, the last one counts"
            self._add(Diagnostic(problem.reason, "error", message, origin=Origin(source, problem.line)))
        if isinstance(document.content, str) and looks_like_an_object(document.content):
            problem = Problem(message=IN_TEXT, reason="syntax-error", line=document.line)
            self.note(problem, source, gap_of_text(document.content))
            return
        if inherited_fields(document.content) is None:
            self.read_object(document.content, Origin(source, document.line), listed=document.is_item)
            return
        for content, line in objects_in(document):
            self.read_object(content, Origin(source, line), listed=True)

    def read_object(self, value: Json, origin: Origin, *, listed: bool = False) -> None:
        """Keep an object, or say why none can refer to it; what is no Kubernetes object at all is counted only.

        Of an object that is `listed` and was stored by an API server, others of its kind there would be listed as well.
        """
        raw = value if isinstance(value, (Body, Mapping)) else _NO_FIELDS
        if raw is _NO_FIELDS and value is not None:
            self._warn("no-kind", what_is_no_object(value), origin)
            return
        api_version, kind = raw.get("apiVersion"), raw.get("kind")
        written = raw.get("metadata")
        metadata = written if isinstance(written, (dict, Mapping)) else _NO_FIELDS
        name, namespace = metadata.get("name"), metadata.get("namespace")
        group_kind = self._kind_of(raw, api_version, kind, origin, namespace)
        if group_kind is None:
            return
        if name and isinstance(name, str) and isinstance(namespace, str | None):
            if "{{" in name or (namespace and "{{" in namespace):
                self._warn("unrendered-template", UNRENDERED, origin)
            created = time_at(metadata, "creationTimestamp") if "creationTimestamp" in metadata else None
            body = raw if isinstance(raw, Body) else Body(raw)
            ref = ObjectRef(group_kind, namespace or "", name)
            self.objects.append(Resource(ref, origin, body, created))
            if listed and metadata.get("uid") and metadata.get("resourceVersion"):
                self.listed.add((group_kind, ref.namespace))
            return
        field = "metadata.namespace" if name and isinstance(name, str) else "metadata.name"
        message = f"{field} must be text: only an object with a fixed name can be referred to"
        gap: Gap | None = None
        if metadata.get("generateName"):
            inside = namespace if isinstance(namespace, str) else ""
            mentions = mentions_of(group_kind, raw)
            gap = Gap(group_kind.kind, inside, message, origin, mentions=mentions)
        self._add(Diagnostic("no-name", "warning", message, field=field, origin=origin), gap)

    def _kind_of(
        self, raw: Mapping[str, Json], api_version: Json, kind: Json, origin: Origin, namespace: Json
    ) -> GroupKind | None:
        """Return the kind of an object; None of what is no object of an API server, which is counted or reported."""
        if not (api_version and isinstance(api_version, str) and kind and isinstance(kind, str)):
            # A Helm chart's Chart.yaml has an apiVersion.
            is_chart = "kind" not in raw and {"name", "version"} <= raw.keys()
            # Files of other programs may have a kind, or a version, but no metadata.
            others = raw.keys() - {"apiVersion", "kind"}
            lacks_one = len(others) == len(raw) - 1 and bool(others)
            is_foreign = lacks_one and others.isdisjoint({"metadata", "spec"})
            if is_chart or is_foreign or len(others) == len(raw):
                self.ignored += 1
            else:
                self._warn("no-kind", _WITHOUT_KIND, origin)
            return None
        usual = self._usual_kinds.get((api_version, kind))
        if usual is not None:
            return usual
        group_kind = GroupKind(api_version.rpartition("/")[0], kind)
        if group_kind.group in _CLIENT_SIDE_GROUPS or group_kind == _KUBECONFIG:
            self.ignored += 1
        elif not _IN_PLACEHOLDERS.isdisjoint(f"{group_kind.group or api_version} {kind}"):
            known_kind = group_kind.kind if _IN_PLACEHOLDERS.isdisjoint(group_kind.kind) else ""
            inside = namespace if isinstance(namespace, str) else ""
            gap = Gap(known_kind, inside, _OF_UNKNOWN_KIND, origin, mentions=mentions_of(None, raw))
            self._warn("unrendered-template", _OF_UNKNOWN_KIND, origin, gap)
        elif why_impossible(group_kind):
            message = f"no API can have {why_impossible(group_kind)}: it takes letters, digits and hyphens"
            self._warn("no-kind", message, origin)
        else:
            self._usual_kinds[api_version, kind] = group_kind
            return group_kind
        return None

    def _warn(self, rule: str, message: str, origin: Origin, gap: Gap | None = None) -> None:
        self._add(Diagnostic(rule, "warning", message, origin=origin), gap)
