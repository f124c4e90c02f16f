"""Kustomize: the program that builds a folder, and the files that it needs without remote ones."""

from __future__ import annotations

import json
import posixpath
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from kubectl_policy.model.fields import items_at, mappings_at
from kubectl_policy.sources.mentions import texts_in
from kubectl_policy.sources.programs.inputs import Inputs
from kubectl_policy.sources.programs.installed import find_program
from kubectl_policy.sources.programs.jobs import FOLDER, Job
from kubectl_policy.sources.tree.kustomization import LISTS_OF_FILES, NAMES, is_remote, within
from kubectl_policy.sources.tree.repository import is_in

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_policy.model import Json
    from kubectl_policy.sources.tree.kustomization import Kustomization
    from kubectl_policy.sources.tree.repository import Repository
    from kubectl_policy.sources.tree.roots import Build

_MAX_PATH: Final = 1_024
# Fields of a kustomization that list files and folders, which may be remote.
_FILE_LISTS: Final = ("resources", "bases", "components", *LISTS_OF_FILES)
# Fields of a kustomization that change nothing in an object but its namespace.
_PLAIN: Final = frozenset({"apiVersion", "kind", "metadata", "resources", "bases", "namespace"})


class Kustomize(Struct, frozen=True, kw_only=True):
    """Program that builds folders, and whether it may fetch what is elsewhere."""

    command: tuple[str, ...]
    helm: str = ""
    """The program that makes manifests of charts in kustomizations; empty if none is installed."""
    network: bool = False

    @classmethod
    def installed(cls, *, network: bool) -> Kustomize | None:
        """Return the program that is installed, if any is."""
        if kubectl := find_program("kubectl"):
            command: tuple[str, ...] = (kubectl, "kustomize")
        elif kustomize := find_program("kustomize"):
            command = (kustomize, "build")
        else:
            return None
        return cls(command=command, helm=find_program("helm"), network=network)

    def job(self, build: Build, kustomizations: Sequence[Kustomization], repository: Repository) -> Job:
        """Return the job that builds a folder of these kustomizations. Raises InputsError for too many files."""
        inputs, escapes, has_charts = Inputs(repository.tree), False, False
        top = repository.tree.root_of(build.folder)
        for kustomization in kustomizations:
            folder = kustomization.folder
            local = self._without_remote(kustomization, repository)
            has_charts |= "helmCharts" in local
            file = repository.kustomization_file(folder) or posixpath.join(folder, NAMES[0])
            inputs.write(file, json.dumps(local))
            # Every text may be a path.
            for text in texts_in([local], keys=False):
                if not 0 < len(text) < _MAX_PATH or "\n" in text:
                    continue
                path = within(folder, text.rpartition("=")[2])
                escapes |= text.startswith("/") or path.partition("/")[0] == ".."
                if repository.kind(path) == "file" and (is_in(path, top) or is_in(path, folder)):
                    inputs.copy_file(path)
                elif repository.kustomization_file(path) and repository.kustomization(path) is None:
                    # Kustomize says best what is wrong with it.
                    inputs.copy_file(repository.kustomization_file(path))
            for chart in mappings_at(local, "helmCharts"):
                inputs.copy_folder(kustomization.chart_folder(chart))
        if file := repository.kustomization_file(build.folder):
            inputs.copy_file(file)
        restrictor = "LoadRestrictionsNone" if build.by_flux and not escapes else "LoadRestrictionsRootOnly"
        with_charts = ("--enable-helm", f"--helm-command={self.helm}") if has_charts else ()
        path = f"{FOLDER}/{build.folder}"
        return Job(
            command=(*self.command, f"--load-restrictor={restrictor}", *with_charts, path),
            inputs=inputs,
            folder=build.folder,
            helpers=(self.helm,) if has_charts else (),
        )

    def _without_remote(self, kustomization: Kustomization, repository: Repository) -> dict[str, Json]:
        """Return the fields of a kustomization without what would have to be fetched."""
        raw = dict(kustomization.raw)
        for name in _FILE_LISTS if not self.network else ():
            entries = items_at(raw, name)
            is_local = [not (isinstance(entry, str) and is_remote(entry) and "\n" not in entry) for entry in entries]
            if not all(is_local):
                raw[name] = [entry for entry, is_here in zip(entries, is_local, strict=True) if is_here]
        charts = [chart for chart in kustomization.charts if repository.is_chart(kustomization.chart_folder(chart))]
        for name in ("helmCharts", "helmChartInflationGenerator", *([] if charts else ["helmGlobals"])):
            raw.pop(name, None)
        return {**raw, "helmCharts": [dict(chart) for chart in charts]} if charts and self.helm else raw


def is_plain(kustomizations: Sequence[Kustomization]) -> bool:
    """Whether a build does no more than to take in files and to set a namespace, for which no program is needed."""
    return all(
        kustomization.raw.keys() <= _PLAIN and not kustomization.remote and not kustomization.is_component
        for kustomization in kustomizations
    )
