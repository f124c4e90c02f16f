"""Hide objects in the files of a repository: behind Kustomize, Flux and Argo CD, among files that do not count.

The names of Kustomize's transformations are those of its documentation; in Flux, `spec.targetNamespace` and
`spec.components` are put into the kustomization at `spec.path`, and variables are filled in last; Argo CD fills in the
namespace where there is none.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias

import yaml
from hypothesis import strategies as st

from kubectl_policy import PolicyKindProfile
from kubectl_policy.model import Json

Object: TypeAlias = dict[str, Any]
Tool: TypeAlias = Literal["kustomize", "flux", "argo"]
# Where the namespace of the objects of an app is said: by themselves, by its kustomization.yaml, by what applies it; or
# by two of them, of which the second one counts.
_SAID_BY: Final[Mapping[Tool, tuple[str, ...]]] = {
    "kustomize": ("object", "kustomization", "kustomization", "object, kustomization"),
    "flux": ("object", "kustomization", "outside", "outside", "object, outside", "kustomization, outside"),
    "argo": ("object", "kustomization", "outside", "outside"),
}
_KUSTOMIZATION: Final = {"apiVersion": "kustomize.config.k8s.io/v1beta1", "kind": "Kustomization"}
_COMPONENT: Final = {"apiVersion": "kustomize.config.k8s.io/v1alpha1", "kind": "Component"}
# Stands for a variable until the text is written, where it needs no quotes.
_PLACE: Final = "zzVALUEzz"
# Read by other programs than kubectl.
_NOISE: Final[Mapping[str, str]] = {
    "values.yaml": "replicas: 2\nroute: {enabled: true}\n",
    "dashboard.json": '{"title": "r0", "panels": [{"kind": "HTTPRoute"}]}\n',
    "Taskfile.yaml": 'version: "3"\ntasks: {check: {cmds: [task: all]}}\n',
    "configuration.yaml": "automation: !include automations.yaml\npassword: !secret r0\n",
    ".github/workflows/check.yaml": "on: push\njobs: {check: {steps: []}}\n",
}


@dataclass(frozen=True, kw_only=True)
class Tree:
    """The files of a repository by their paths, and the objects that each cluster has when all of it is applied.

    Where nothing tells clusters apart, there is one without a name.
    """

    tool: Tool
    files: Mapping[str, str]
    truths: Mapping[str, tuple[Object, ...]]
    profiles: tuple[PolicyKindProfile, ...] = field(repr=False)


@dataclass(kw_only=True)
class _App:
    """An app: objects of one namespace in a folder that are applied together, and what is special about them."""

    name: str
    namespace: str
    objects: list[Object]
    said_by: str
    variables: dict[str, _Variable] = field(default_factory=dict[str, "_Variable"])
    components: list[str] = field(default_factory=list[str])

    @property
    def path(self) -> str:
        """Its folder."""
        return f"apps/{self.name}"


@dataclass(frozen=True, kw_only=True)
class _Variable:
    """A value that is filled in: of which object, where in it, and what that field is where the variable is `value`."""

    number: int
    where: tuple[str | int, ...]
    value: str
    whole: Callable[[str], Any]
    source: str


class _Dumper(yaml.SafeDumper):
    """Writes in quotes what Go's library takes for booleans, and Python's does not."""


_Dumper.add_implicit_resolver(  # pyright: ignore[reportUnknownMemberType] - the library has no types
    "tag:yaml.org,2002:bool", re.compile("[yYnN]$"), list("yYnN")
)


def _dumped(*documents: Any) -> str:  # noqa: ANN401 (any values)
    return yaml.dump_all(documents, Dumper=_Dumper, sort_keys=False)


class Hiding:
    """A tree in the making."""

    def __init__(self, draw: st.DrawFn, tool: Tool) -> None:
        """Nothing is hidden yet."""
        self.draw = draw
        self.tool: Tool = tool
        self.files: dict[str, str] = {}
        self.spelling = ""
        self.clusters = ("main", "lab") if tool == "flux" and self.sometimes() else ("main",)

    def sometimes(self) -> bool:
        """Once in three times."""
        return self.draw(st.sampled_from((False, False, True)))

    def hide(self, objects: Sequence[Object], profiles: tuple[PolicyKindProfile, ...]) -> Tree:
        """The tree of some objects, in an app or two for each of their namespaces, and one for what has none."""
        apps: list[_App] = []
        shared = [obj for obj in objects if "namespace" not in obj["metadata"]]
        namespaces = sorted({obj["metadata"]["namespace"] for obj in objects if obj not in shared})
        for namespace in namespaces:
            mine = [obj for obj in objects if obj["metadata"].get("namespace") == namespace]
            letters = sorted({one["metadata"]["name"][0] for one in mine})
            alone = self.draw(st.sampled_from(letters))
            split = [one["metadata"]["name"][0] == alone for one in mine]
            for number, part in enumerate((True, False)):
                inside = [one for one, apart in zip(mine, split, strict=True) if apart == part]
                if inside:
                    said_by = self.draw(st.sampled_from(_SAID_BY[self.tool]))
                    apps.append(
                        _App(name=f"{namespace}-{number}", namespace=namespace, objects=inside, said_by=said_by)
                    )
        truths = {cluster: [copy.deepcopy(one) for one in shared] for cluster in self.clusters}
        self._write_shared(shared)
        for app in apps:
            self._hide_app(app)
            for cluster in self.clusters:
                truths[cluster] += self._applied(app, cluster)
        # What applies a folder without a kustomization.yaml would fail on anything that is no manifest.
        folders = ["", *(f"{app.path}/" for app in apps if f"{app.path}/kustomization.yaml" in self.files)]
        for name in self.draw(st.lists(st.sampled_from(sorted(_NOISE)), max_size=3, unique=True)):
            self.files[self.draw(st.sampled_from(folders)) + name] = _NOISE[name]
        named = self.clusters if self.tool == "flux" else ("",)
        found = {name: tuple(truths[cluster]) for name, cluster in zip(named, self.clusters, strict=True)}
        return Tree(tool=self.tool, files=self.files, truths=found, profiles=profiles)

    def _write_shared(self, shared: Sequence[Object]) -> None:
        self._write("shared/all.yaml", *shared)
        if self.draw(st.booleans()):
            self._write("shared/kustomization.yaml", _KUSTOMIZATION | {"resources": ["all.yaml"]})
        for cluster in self.clusters:
            if self.tool == "flux":
                self._write_flux(cluster, cluster, {"path": f"./clusters/{cluster}"})
                self._write_flux(cluster, "shared", {"path": "./shared"})
        if self.tool == "argo":
            self._write("argocd/shared.yaml", _application("shared", "shared", "argocd"))

    def _hide_app(self, app: _App) -> None:
        """Write the files of an app: what is in its folder, behind a base, and in components."""
        shown = [copy.deepcopy(obj) for obj in app.objects]
        for one in shown:
            one["metadata"].pop("namespace")
            if app.said_by.startswith("object"):
                one["metadata"]["namespace"] = app.namespace if app.said_by == "object" else "wrong"
        if self.tool == "flux" and self.sometimes():
            self._hide_values(app, shown)
        elif self.sometimes():
            shown = self._without_service(shown)
        bare = app.said_by == "object, outside" or (app.said_by == "outside" and self.draw(st.booleans()))
        if bare:
            self._write_objects(app.path, shown)
        else:
            self._write_kustomization(app, shown)

    def _write_kustomization(self, app: _App, shown: list[Object]) -> None:
        own: dict[str, Any] = {}
        if "kustomization" in app.said_by:
            own["namespace"] = app.namespace if app.said_by.endswith("kustomization") else "wrong"
        prefix, names = shown[0]["metadata"]["name"][0], [one["metadata"]["name"] for one in shown]
        prefixed = all(len(name) > 1 and name.startswith(prefix) for name in names)
        if self.sometimes() and prefixed and not app.variables:
            own["namePrefix"] = prefix
            for one in shown:
                one["metadata"]["name"] = one["metadata"]["name"].removeprefix(prefix)
        patches = self._patches(app.path, shown) if self.sometimes() and not app.variables else {}
        if self.sometimes() and len(shown) > 1:
            self._write_component(f"components/{app.name}", [shown.pop()])
            own["components"] = [f"../../components/{app.name}"]
        if self.sometimes():
            base = f"bases/{app.name}"
            self._write(f"{base}/kustomization.yaml", _KUSTOMIZATION | {"resources": self._write_objects(base, shown)})
            own["resources"] = [f"../../{base}"]
        else:
            own["resources"] = self._write_objects(app.path, shown)
        self._write(f"{app.path}/kustomization.yaml", _KUSTOMIZATION | own | patches)
        if self.sometimes():
            self._write_decoys(app)

    def _without_service(self, shown: list[Object]) -> list[Object]:
        """Leave a Service to somebody else, who may be in the tree."""
        rest = [one for one in shown if one["kind"] != "Service"]
        if not rest or len(rest) == len(shown):
            return shown
        (gone, *_) = (one for one in shown if one not in rest)
        if self.tool == "flux" and self.draw(st.booleans()):
            rest.append(
                {"apiVersion": "helm.toolkit.fluxcd.io/v2", "kind": "HelmRelease", "metadata": dict(gone["metadata"])}
                | {"spec": {"interval": "1h", "chartRef": {"kind": "OCIRepository", "name": "charts"}}}
            )
        return rest + [one for one in shown if one["kind"] == "Service" and one is not gone]

    def _hide_values(self, app: _App, shown: Sequence[Object]) -> None:
        """Put a variable in the place of a value, or of a part of it; what its value is may be anywhere."""
        number = self.draw(st.integers(0, len(shown) - 1))
        # What is filled in loses its quotes: text that looks like a number, or like a boolean, would be one.
        places = [
            place
            for place in _leaves(shown[number])
            if place[-1] == "port" or not re.fullmatch(r"\d+|[yYnN]", str(_at(shown[number], place)))
        ]
        where = self.draw(st.sampled_from(places))
        value = _at(shown[number], where)
        source = self.draw(st.sampled_from(("substitute", "configmap", "default", "secret")))
        whole: Callable[[str], Any] = str
        shown_value, text = _PLACE, str(value)
        if isinstance(value, int):
            whole = int
        elif "." in text and self.draw(st.booleans()):
            text, rest = text.split(".", 1)
            shown_value += f".{rest}"
            whole = _before(rest)
        self.spelling = f"${{VALUE:={text}}}" if source == "default" else "${VALUE}"
        app.variables["VALUE"] = _Variable(number=number, where=where, value=text, whole=whole, source=source)
        _set(shown[number], where, shown_value)

    def _patches(self, folder: str, shown: Sequence[Object]) -> dict[str, Any]:
        """Change an object, and have a patch change it back."""
        patched = [one for one in shown if one["kind"] != "Service" and _is_plain(one.get("spec"))]
        if not patched:
            return {}
        one = self.draw(st.sampled_from(patched))
        key = self.draw(st.sampled_from(sorted(one["spec"])))
        right, spec = copy.deepcopy(one["spec"][key]), one["spec"]
        spec[key] = self._changed(right)
        head = {"apiVersion": one["apiVersion"], "kind": one["kind"], "metadata": dict(one["metadata"])}
        head["metadata"].pop("labels", None)
        merge = head | {"spec": {key: right}}
        form = self.draw(st.sampled_from(("file", "inline", "legacy", "json", "removed")))
        target = {"kind": one["kind"], "name": one["metadata"]["name"]}
        if form == "removed":
            spec[key], spec["extra"] = right, 5
            merge = head | {"spec": {"extra": None}}
        if form == "json" or isinstance(right, dict):
            replaced: Object = {"op": "replace", "path": f"/spec/{key}", "value": right}
            operation: Object = {"op": "remove", "path": "/spec/extra"} if form == "removed" else replaced
            return {"patches": [{"target": target, "patch": _dumped([operation])}]}
        if form == "inline":
            return {"patches": [{"patch": _dumped(merge)}]}
        self._write(f"{folder}/patch.yaml", merge)
        return {"patchesStrategicMerge": ["patch.yaml"]} if form == "legacy" else {"patches": [{"path": "patch.yaml"}]}

    def _changed(self, value: Json) -> Json:
        match value:
            case [{"name": str()}, *_]:
                return [{**item, "name": "g9"} for item in value if isinstance(item, dict)]
            case [str(), *_]:
                return ["old.example.com"]
            case str():
                return f"{value}-old"
            case list():
                return []
            case dict():
                return {}
            case _:
                return 7

    def _write_decoys(self, app: _App) -> None:
        """Write a file that looks like a part of an app and is in no kustomization."""
        decoy = copy.deepcopy(self.draw(st.sampled_from(app.objects)))
        decoy["metadata"].pop("namespace")
        if self.draw(st.booleans()):
            decoy["metadata"]["name"] = "decoy"
        decoy["spec"]["extra"] = "decoy"
        if self.draw(st.booleans()):
            self._write(f"{app.path}/decoy.yaml", decoy)
        else:
            self._write_component(f"components/unused-{app.name}", [decoy])

    def _write_component(self, folder: str, objects: Sequence[Object]) -> None:
        resources = self._write_objects(folder, objects)
        self._write(f"{folder}/kustomization.yaml", _COMPONENT | {"resources": resources})

    def _write_objects(self, folder: str, objects: Sequence[Object]) -> list[str]:
        """Write objects, together or one by one; the names of the files."""
        if self.draw(st.booleans()):
            self._write(f"{folder}/all.yaml", *objects)
            return ["all.yaml"]
        for number, one in enumerate(objects):
            self._write(f"{folder}/{number}.yaml", one)
        return [f"{number}.yaml" for number in range(len(objects))]

    def _write(self, path: str, *documents: Mapping[str, Any]) -> None:
        text = _dumped(*map(dict, documents)).replace(_PLACE, self.spelling)
        self.files[path] = self.files.get(path, "") + ("---\n" if path in self.files else "") + text

    def _applied(self, app: _App, cluster: str) -> list[Object]:
        """Have an app applied to a cluster; what it comes to there."""
        found = [copy.deepcopy(obj) for obj in app.objects]
        home = app.namespace if app.said_by.endswith("outside") else None
        if self.tool == "argo":
            folder = app.path
            self._write(f"argocd/{app.name}.yaml", _application(app.name, folder, home or "argocd"))
        if self.tool != "flux":
            return found
        how = self.draw(st.sampled_from(("same", "absent", "elsewhere", "value"))) if cluster == "lab" else "same"
        if how == "absent":
            return []
        spec: dict[str, Any] = {"path": f"./{app.path}"}
        if home:
            home = spec["targetNamespace"] = f"{home}-lab" if how == "elsewhere" else home
            for one in found:
                one["metadata"]["namespace"] = home
        for name, variable in app.variables.items():
            text = variable.value
            if how == "value":
                text = "8" if variable.whole is int else f"lab{variable.value}"
            _set(found[variable.number], variable.where, variable.whole(text))
            spec["postBuild"] = self._substituted(app, cluster, name, text, variable.source)
        self._write_flux(cluster, app.name, spec)
        return found

    def _substituted(self, app: _App, cluster: str, name: str, text: str, source: str) -> dict[str, Any]:
        if source == "substitute" or (source == "default" and cluster == "lab"):
            return {"substitute": {name: text}}
        if source == "default":
            return {"substitute": {"OTHER": text}}
        kind = "ConfigMap" if source == "configmap" else "Secret"
        data = (
            {"data": {name: text}} if source == "configmap" else {"sops": {"mac": "ENC[x]"}, "data": {name: "ENC[x]"}}
        )
        metadata = {"name": f"settings-{app.name}", "namespace": "flux-system"}
        self._write(
            f"clusters/{cluster}/settings-{app.name}.yaml",
            {"apiVersion": "v1", "kind": kind, "metadata": metadata} | data,
        )
        return {"substituteFrom": [{"kind": kind, "name": metadata["name"]}]}

    def _write_flux(self, cluster: str, name: str, spec: Mapping[str, Any]) -> None:
        source = {"kind": "GitRepository", "name": "home"}
        metadata = {"name": name, "namespace": "flux-system"}
        kind = {"apiVersion": "kustomize.toolkit.fluxcd.io/v1", "kind": "Kustomization", "metadata": metadata}
        whole = {"interval": "1h", "prune": True, "sourceRef": source} | dict(spec)
        self._write(f"clusters/{cluster}/apps.yaml", kind | {"spec": whole})


def _application(name: str, path: str, namespace: str) -> Object:
    source = {"repoURL": "https://git.example.com/home.git", "targetRevision": "main", "path": path}
    destination = {"server": "https://kubernetes.default.svc", "namespace": namespace}
    metadata = {"name": name, "namespace": "argocd"}
    kind = {"apiVersion": "argoproj.io/v1alpha1", "kind": "Application", "metadata": metadata}
    return kind | {"spec": {"project": "default", "source": source, "destination": destination}}


def _before(rest: str) -> Callable[[str], str]:
    return lambda first: f"{first}.{rest}"


def _is_plain(value: Json) -> bool:
    """Whether there is no null in a value; in a patch it would remove something."""
    if isinstance(value, dict):
        return all(map(_is_plain, value.values()))
    return all(map(_is_plain, value)) if isinstance(value, list) else value is not None


def _leaves(one: Object) -> Iterator[tuple[str | int, ...]]:
    """Yield the positions of the name of an object and of the values in its spec."""
    rest: list[tuple[tuple[str | int, ...], Json]] = [
        (("spec",), one.get("spec")),
        (("metadata", "name"), one["metadata"]["name"]),
    ]
    while rest:
        where, value = rest.pop()
        if isinstance(value, dict):
            rest.extend(((*where, key), item) for key, item in value.items())
        elif isinstance(value, list):
            rest.extend(((*where, number), item) for number, item in enumerate(value))
        elif isinstance(value, str | int) and value != "" and not isinstance(value, bool):
            yield where


def _at(one: Object, where: tuple[str | int, ...]) -> Any:  # noqa: ANN401 (any value of a field)
    value: Any = one
    for step in where:
        value = value[step]
    return value


def _set(one: Object, where: tuple[str | int, ...], value: object) -> None:
    _at(one, where[:-1])[where[-1]] = value
