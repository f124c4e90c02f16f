"""Kustomizations: the files and folders that they take in, their changes, and the files that serve them otherwise."""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING, Final

from msgspec import Struct, field
from msgspec.structs import replace

from kubectl_policy.model.fields import items_at, mapping_at, mappings_at, strings_at, text_at
from kubectl_policy.sources.tree.patches import (
    Patch,
    inline_patch,
    replacement_moves,
    replacement_targets,
    target_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from kubectl_policy.model import Json, Origin

# The names that kustomize takes, in its order of preference (kustomize/api/konfig).
NAMES: Final = ("kustomization.yaml", "kustomization.yml", "Kustomization")

# What kustomize tells from a path without asking a disk: a URL, or what git clones (kustomize/api/internal/git).
_REMOTE: Final = re.compile(
    r"""[A-Za-z][A-Za-z0-9+.-]*:(//|:)   # https://, git::
    | [^/@]+@[^/]+:                      # git@host:
    | (www\.)?(github\.com|gitlab\.com|bitbucket\.org)[:/]
    | .*[?&](ref|version|timeout|submodules)=
    """,
    re.VERBOSE,
)
_GENERATORS: Final = ("configMapGenerator", "secretGenerator")
# Fields that list files, or folders, of which none is an object to be applied.
LISTS_OF_FILES: Final = {
    "crds": "schema for Kustomize",
    "configurations": "configuration of Kustomize",
    "generators": "generator",
    "transformers": "transformer",
    "validators": "validator",
}


class Labels(Struct, frozen=True, kw_only=True):
    """Labels that a kustomization gives to all objects; those in `selectors` also select what has them."""

    pairs: Mapping[str, str]
    selectors: bool = False
    templates: bool = False


class Kustomization(Struct, frozen=True, kw_only=True):
    """A kustomization.yaml. Its paths are normalised, and relative to whatever `folder` is relative to."""

    folder: str
    origin: Origin
    is_component: bool = False
    resources: tuple[str, ...] = ()
    """Files and folders that it takes in."""
    components: tuple[str, ...] = ()
    """Folders of components that it takes in."""
    remote: tuple[str, ...] = ()
    """Resources and components that are not on this disk."""
    patches: tuple[Patch, ...] = ()
    """Patches and replacements."""
    serving: Mapping[str, str] = field(default_factory=dict[str, str])
    """Files, and folders of these, that are no objects, by their roles."""
    namespace: str = ""
    # What says the namespace, if that is something else.
    namespace_from: Origin | None = None
    name_prefix: str = ""
    name_suffix: str = ""
    labels: tuple[Labels, ...] = ()
    annotations: Mapping[str, str] = field(default_factory=dict[str, str])
    charts: tuple[Mapping[str, Json], ...] = ()
    raw: Mapping[str, Json] = field(default_factory=dict[str, "Json"])

    @property
    def generates(self) -> tuple[str, ...]:
        """The fields by which it makes objects of its own."""
        return tuple(name for name in (*_GENERATORS, "generators", "helmCharts") if self.raw.get(name))

    def chart_folder(self, chart: Mapping[str, Json]) -> str:
        """Return the folder where one of its charts would be, if it is not fetched."""
        home = text_at(self.raw, "helmGlobals.chartHome", "charts")
        return within(self.folder, posixpath.join(home, text_at(chart, "name")))


def is_remote(reference: str) -> bool:
    """Whether an entry of `resources` is fetched from elsewhere."""
    return bool(_REMOTE.match(reference))


def read_kustomization(raw: Mapping[str, Json], folder: str, origin: Origin) -> Kustomization:
    """Read the kustomization in a file of a folder; malformed parts are left out."""
    references = [*strings_at(raw, "resources"), *strings_at(raw, "bases")]
    components = strings_at(raw, "components")
    patches, serving = patches_in(raw, folder, origin), dict(_serving(raw, folder))
    serving.update({patch.file: "patch" for patch in patches if patch.file})
    replacements = list(_replacements(raw, folder, origin))
    serving.update({replacement.file: "replacement" for replacement in replacements if replacement.file})
    return Kustomization(
        folder=folder,
        origin=origin,
        is_component=text_at(raw, "kind") == "Component",
        resources=tuple(_local(references, folder)),
        components=tuple(_local(components, folder)),
        remote=tuple(filter(is_remote, [*references, *components])),
        patches=(*patches, *replacements),
        serving=serving,
        namespace=text_at(raw, "namespace"),
        name_prefix=text_at(raw, "namePrefix"),
        name_suffix=text_at(raw, "nameSuffix"),
        labels=tuple(_labels(raw)),
        annotations=texts_at(raw, "commonAnnotations"),
        charts=tuple(mappings_at(raw, "helmCharts")),
        raw=raw,
    )


def extend(kustomization: Kustomization, additions: Mapping[str, Json], origin: Origin) -> Kustomization:
    """Return a kustomization with fields that are added elsewhere: lists become longer, anything else is replaced."""
    raw = dict(kustomization.raw)
    for name, added in additions.items():
        present = items_at(raw, name)
        raw[name] = [*present, *(item for item in added if item not in present)] if isinstance(added, list) else added
    patches = (*kustomization.patches, *patches_in(additions, kustomization.folder, origin))
    namespace_from = origin if additions.get("namespace") else None
    extended = read_kustomization(raw, kustomization.folder, kustomization.origin)
    return replace(extended, patches=patches, namespace_from=namespace_from)


def _local(references: Iterable[str], folder: str) -> Iterator[str]:
    return (within(folder, reference) for reference in references if reference and not is_remote(reference))


def within(folder: str, path: str) -> str:
    """Return the path of a path that is written in a file of a folder."""
    return posixpath.normpath(posixpath.join(folder, path))


def patches_in(raw: Mapping[str, Json], folder: str, origin: Origin) -> list[Patch]:
    """Read the patches of a kustomization in a folder."""
    patches: list[Patch] = []
    for declared in [*mappings_at(raw, "patches"), *mappings_at(raw, "patchesJson6902")]:
        path, target = text_at(declared, "path"), declared.get("target")
        options = mapping_at(declared, "options")
        moves = bool(options.get("allowNameChange") or options.get("allowKindChange"))
        if path:
            targets = (target_of(target),) if isinstance(target, dict) else ()
            patches.append(Patch(origin=origin, file=within(folder, path), targets=targets, moves=moves))
        else:
            patch = inline_patch(declared.get("patch"), target, origin)
            patches.append(replace(patch, moves=moves or patch.moves))
    for merge in strings_at(raw, "patchesStrategicMerge"):
        # A path has one line, and a patch that says what it changes does not.
        if "\n" in merge or merge.lstrip().startswith("{"):
            patches.append(inline_patch(merge, None, origin))
        else:
            patches.append(Patch(origin=origin, file=within(folder, merge)))
    return patches


def _replacements(raw: Mapping[str, Json], folder: str, origin: Origin) -> Iterator[Patch]:
    for replacement in mappings_at(raw, "replacements"):
        path = text_at(replacement, "path")
        targets = () if path else replacement_targets(replacement)
        yield Patch(
            origin=origin,
            file=within(folder, path) if path else "",
            targets=targets,
            moves=replacement_moves(replacement),
            replaces=True,
            values=(replacement,),
        )


def _serving(raw: Mapping[str, Json], folder: str) -> Iterator[tuple[str, str]]:
    """Return files and folders that are listed as something else than objects or patches, with their roles."""
    for name, role in LISTS_OF_FILES.items():
        yield from ((within(folder, path), role) for path in strings_at(raw, name) if _is_path(path))
    if text_at(raw, "openapi.path"):
        yield within(folder, text_at(raw, "openapi.path")), "schema for Kustomize"
    for generator in (declared for name in _GENERATORS for declared in mappings_at(raw, name)):
        files = [path.rpartition("=")[2] for path in strings_at(generator, "files")]
        for path in [*files, *strings_at(generator, "envs"), text_at(generator, "env")]:
            if path:
                yield within(folder, path), "file of a generator"
    for chart in mappings_at(raw, "helmCharts"):
        for path in [text_at(chart, "valuesFile"), *strings_at(chart, "additionalValuesFiles")]:
            if path:
                yield within(folder, path), "Helm values"


def _is_path(reference: str) -> bool:
    return bool(reference) and "\n" not in reference and not is_remote(reference)


def _labels(raw: Mapping[str, Json]) -> Iterator[Labels]:
    if mapping_at(raw, "commonLabels"):
        yield Labels(pairs=texts_at(raw, "commonLabels"), selectors=True, templates=True)
    for declared in mappings_at(raw, "labels"):
        selectors = declared.get("includeSelectors") is True
        yield Labels(
            pairs=texts_at(declared, "pairs"),
            selectors=selectors,
            templates=selectors or declared.get("includeTemplates") is True,
        )


def texts_at(raw: Json, path: str) -> dict[str, str]:
    """Return the mapping at a path, with the values that are text."""
    return {key: text for key, text in mapping_at(raw, path).items() if isinstance(text, str)}
