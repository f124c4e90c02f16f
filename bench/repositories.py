"""A repository of any size as people keep them for Flux: what they deploy, and in between what is no manifest at all.

`python -m bench.repositories FOLDER SIZE` writes one of so many files.
"""

from __future__ import annotations

import json
import sys
from itertools import chain, count, islice
from pathlib import Path
from typing import TYPE_CHECKING, Final

from bench.worlds import ENVOY_GATEWAY, UNKNOWN, gateway_class, manifest, written

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

APPS: Final = 10
# Those of which the Service comes with a HelmRelease.
_RELEASED: Final = (4, 9)
_GATEWAY_API: Final = "gateway.networking.k8s.io"
_KUSTOMIZATION: Final = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n"
_GENERATED: Final = "labels:\n- pairs: {backup: daily}\nconfigMapGenerator:\n- {name: backup, literals: [keep=7]}\n"
_MANIFESTS: Final = Path(__file__).parent / "manifests" / "flux"


def _read(name: str, **values: str) -> str:
    """The text of a file, names in capitals filled in."""
    text = (_MANIFESTS / f"{name}.yaml").read_text("utf-8")
    for placeholder, value in values.items():
        text = text.replace(placeholder, value)
    return text


def flux(size: int) -> Iterator[tuple[str, str]]:
    """A tree for Flux of so many files, a third of them no manifests. A larger one has all that a smaller one has.

    In 3,000 files are some 700 routes, and policies on a third of them.
    """
    return islice(chain(_shared(), chain.from_iterable(map(_team, count()))), size)


def flux_home(teams: int) -> Iterator[tuple[str, str]]:
    """A repository for Flux that applies all of its teams: of each, as many Kustomizations as it has apps."""
    yield from _shared()
    url = "interval: 1m\nurl: https://git.example.com/home.git\nref: {branch: main}"
    yield "cluster/source.yaml", manifest("source.toolkit.fluxcd.io/v1/GitRepository", "home", "flux-system", spec=url)
    applied = "interval: 1h\npath: ./apps\nsourceRef: {kind: GitRepository, name: home}"
    yield "cluster/apps.yaml", _flux("apps", "flux-system", applied)
    yield "apps/kustomization.yaml", _resources(*(f"team-{number}" for number in range(teams)))
    for path, text in chain.from_iterable(map(_team, range(teams))):
        # As most are, these are more than lists of files, so that programs are needed.
        generated = _GENERATED if path.endswith("/app/kustomization.yaml") else ""
        yield path, text + generated


def _shared() -> Iterator[tuple[str, str]]:
    yield "cluster/settings.yaml", _settings("flux-system")
    applied = "interval: 1h\npath: ./infra\nsourceRef: {kind: GitRepository, name: home}"
    substituted = "postBuild: {substituteFrom: [{kind: ConfigMap, name: settings}]}"
    yield "cluster/infra.yaml", _flux("infra", "flux-system", f"{applied}\n{substituted}")
    yield "infra/kustomization.yaml", _resources("classes.yaml", "gateway.yaml", "policies.yaml", "limits.yaml")
    yield "infra/classes.yaml", "".join(written(gateway_class(UNKNOWN)))
    yield "infra/gateway.yaml", manifest(f"{_GATEWAY_API}/v1/Gateway", "edge", "infra", spec=_read("gateway").rstrip())
    on_gateway = _on("Gateway", "edge")
    yield "infra/policies.yaml", UNKNOWN.manifest("edge", on_gateway, namespace="infra")
    yield "infra/limits.yaml", ENVOY_GATEWAY.manifest("limits", on_gateway, namespace="infra")
    yield "Taskfile.yaml", 'version: "3"\ntasks: {check: {cmds: [flux build kustomization apps]}}\n'


def _team(number: int) -> Iterator[tuple[str, str]]:
    """The files of a team; those that are no manifests among the others, so that any part has its share of them."""
    team = f"team-{number}"
    top = f"apps/{team}"
    apps = [f"app-{number}-{n}" for n in range(APPS)]
    resources = ("namespace.yaml", "settings.yaml", *(f"{app}/ks.yaml" for app in apps))
    yield f"{top}/kustomization.yaml", _resources(*resources)
    yield f"{top}/settings.yaml", _settings(team)
    yield f"{top}/namespace.yaml", manifest("v1/Namespace", team, labels=f"{{team: {team}}}")
    for n, app in enumerate(apps):
        yield f"{top}/{app}/ks.yaml", _flux(app, team, _read("kustomization", TEAM=team, APP_NAME=app).rstrip())
        released = ["helmrelease.yaml"] if n in _RELEASED else []
        yield f"{top}/{app}/app/kustomization.yaml", _resources("app.yaml", *released)
        yield f"{top}/{app}/app/app.yaml", "".join(written(_app(app, n)))
        if released:
            spec = _read("release", APP_NAME=app).rstrip()
            yield f"{top}/{app}/app/helmrelease.yaml", manifest("helm.toolkit.fluxcd.io/v2/HelmRelease", app, spec=spec)
        yield from _no_manifests(f"{top}/{app}", app, n)


def _app(app: str, number: int) -> Iterator[str]:
    """One or two routes, a Service, and sometimes a policy; none names a namespace, and some names are filled in."""
    name = "${APP}" if number % 5 == 1 else app
    domain = "${DOMAIN}" if number % 2 else "home.example.com"
    for route in (name, f"{name}-admin") if number in {0, APPS - 1} else (name,):
        spec = _read("route", ROUTE=route, BACKEND=name, HOST=domain).rstrip()
        yield manifest(f"{_GATEWAY_API}/v1/HTTPRoute", route, spec=spec)
    if number not in _RELEASED:
        yield manifest("v1/Service", name, spec="selector: {app: a}\nports:\n- {name: http, port: 80}")
    if number % 3 == 0:
        policies = UNKNOWN if number % 2 else ENVOY_GATEWAY
        yield policies.manifest(name, _on("HTTPRoute", name), namespace="")


def _no_manifests(folder: str, app: str, number: int) -> Iterator[tuple[str, str]]:
    """One or two files beside an app that programs other than kubectl read."""
    if number % 2:
        panels = [{"id": n, "title": f"Panel {n}", "targets": [{"expr": f"sum(rate(m_{n}[5m]))"}]} for n in range(40)]
        yield f"{folder}/app/dashboard.json", json.dumps({"title": app, "panels": panels}, indent=1)
        yield (
            f"{folder}/values.yaml",
            "".join(f"key{n}:\n  enabled: true\n  image: example.com/{n}\n" for n in range(30)),
        )
    elif number == 0:
        yield f"{folder}/check.yaml", _read("workflow")
        yield f"{folder}/Taskfile.yaml", 'version: "3"\ntasks: {check: {cmds: [task: all]}}\n'
    else:
        yield f"{folder}/configuration.yaml", "automation: !include automations.yaml\npassword: !secret password\n"


def _settings(namespace: str) -> str:
    """The values that Kustomizations in a namespace fill in."""
    return manifest("v1/ConfigMap", "settings", namespace) + "data: {DOMAIN: home.example.com}\n"


def _flux(name: str, namespace: str, spec: str) -> str:
    return manifest("kustomize.toolkit.fluxcd.io/v1/Kustomization", name, namespace, spec=spec)


def _resources(*paths: str) -> str:
    return _KUSTOMIZATION + "resources:\n" + "".join(f"- {path}\n" for path in paths)


def _on(kind: str, name: str) -> str:
    return f'targetRefs:\n- {{group: {_GATEWAY_API}, kind: {kind}, name: "{name}"}}'


def write_flux(folder: Path, size: int) -> str:
    """Write a repository of so many files into a folder that does not exist yet, and return its path."""
    return write_files(folder, flux(size))


def write_files(folder: Path, files: Iterable[tuple[str, str]]) -> str:
    """Write files by their paths into a folder that does not exist yet, and return its path."""
    for path, text in files:
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")
    return str(folder)


if __name__ == "__main__":
    write_flux(Path(sys.argv[1]), int(sys.argv[2]))
