"""Fixture repositories: their clusters, and the programs that render what each cluster gets."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

import pytest
import yaml
from msgspec import Struct

from kubectl_policy import Analysis, analyze, load_manifests
from tests import fast_yaml

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

REPOSITORIES: Final = Path(__file__).parents[2] / "fixtures" / "repositories"
CLUSTER_SCOPED: Final = frozenset({"GatewayClass", "Namespace", "CustomResourceDefinition"})
# What makes objects is no part of what it makes.
_DELIVERING: Final = ("toolkit.fluxcd.io", "fluxcd.controlplane.io", "argoproj.io")
_PROGRAMS: Final = {"flate": "flate", "helm": "helm", "kustomize": "kubectl"}
_COMMANDS: Final = {
    "flate": ("build", "all", "--no-progress", "--allow-missing-secrets", "--path"),
    "helm": ("template",),
    "kustomize": ("kustomize",),
}
# No program may reach a network; whatever tries is refused at once.
_OFFLINE: Final = {"HTTPS_PROXY": "http://127.0.0.1:9", "HTTP_PROXY": "http://127.0.0.1:9", "NO_PROXY": ""}


# Several tests ask for the same.
_TRUTHS: Final[dict[tuple[Path, str], Analysis]] = {}


class Part(Struct, frozen=True):
    """A part of what a cluster gets: a program with its arguments, and the namespace of objects that name none."""

    program: Literal["files", "flate", "helm", "kustomize"]
    arguments: tuple[str, ...]
    namespace: str = ""


class Repository(Struct, frozen=True, kw_only=True):
    """A fixture repository."""

    name: str
    remote: str = "https://git.example/none.git"
    """The address of the repository, by which Flux and its programs recognise that it is meant."""
    worlds: Mapping[str, tuple[Part, ...]]
    """What each cluster or overlay gets, by its name; the name is empty if there is but one."""
    is_realistic: bool = True
    """Whether it is in the style of repositories that people keep."""
    unfilled: Mapping[str, str] = {}
    """Values that a program writes although a variable in them is unknown, and what is known of them."""


def _flate(*folders: str) -> dict[str, tuple[Part, ...]]:
    names = [folder.rpartition("/")[2] for folder in folders] if len(folders) > 1 else [""]
    return {name: (Part("flate", (folder,)),) for name, folder in zip(names, folders, strict=True)}


def _helm(release: str, chart: str, namespace: str, *options: str) -> Part:
    return Part("helm", (release, chart, "--namespace", namespace, *options), namespace)


ALL: Final = (
    Repository(
        name="argo-app-of-apps",
        worlds={
            "": (
                Part("files", ("platform/**/*.yaml",), "hall"),
                Part("kustomize", ("catalogue/overlays/prod",), "catalogue"),
                _helm("lending", "lending", "lending", "--values", "lending/values-prod.yaml", "--set", "limit=30"),
            )
        },
    ),
    Repository(
        name="argo-cd",
        worlds={
            "": (
                Part("files", ("platform/gateway.yaml",), "platform"),
                Part("files", ("shop/shop.yaml",), "shop"),
                Part("kustomize", ("exhibits/dinosaurs",), "dinosaurs"),
                Part("kustomize", ("exhibits/minerals",), "minerals"),
            )
        },
    ),
    Repository(
        name="argo-sets",
        worlds={
            "": (
                Part("files", ("platform/entrance/gateway.yaml",), "entrance"),
                Part("files", ("enclosures/lions/camera.yaml",), "lions"),
                Part("files", ("enclosures/seals/camera.yaml",), "seals"),
                _helm("shop-ice", "shops/ice", "shops", "--set", "open=true,requests=50"),
                _helm("gate-test", "tickets/gate", "gate-test", "--set", "host=test.zoo.example"),
                _helm("gate-live", "tickets/gate", "gate-live", "--set", "host=zoo.example"),
            )
        },
    ),
    Repository(
        name="argo-values",
        worlds={
            "": (
                Part("files", ("house/gateway.yaml", "house/clients-policy.yaml"), "house"),
                _helm(
                    "box-office",
                    "charts/stage",
                    "box-office",
                    *("--values", "values/common.yaml", "--values", "values/box-office.yaml"),
                ),
                Part("files", ("programme/policy.yaml",), "programme"),
            )
        },
    ),
    Repository(name="dump", worlds={"": (Part("files", ("cluster.yaml",)),)}),
    Repository(
        name="flux",
        remote="https://git.radio.example/station.git",
        worlds=_flate("clusters/harbour", "clusters/island"),
    ),
    Repository(
        name="flux-foreign-source",
        remote="https://git.press.example/platform/fleet.git",
        worlds=_flate("clusters/main"),
    ),
    Repository(
        name="flux-home",
        remote="https://git.home.example/home.git",
        worlds=_flate("kubernetes/flux/cluster"),
        unfilled={"photos.": "photos.${SECRET_DOMAIN}"},
    ),
    Repository(name="flux-oci", remote="https://git.weather.example/weather.git", worlds=_flate("clusters/prod")),
    Repository(name="flux-operator", remote="https://git.ferry.example/fleet.git", worlds=_flate("clusters/prod")),
    Repository(
        name="flux-two-clusters",
        remote="ssh://git@git.garden.example/fleet",
        worlds=_flate("clusters/shop", "clusters/web"),
    ),
    Repository(
        name="helm",
        worlds={"": (Part("files", ("gateway.yaml",)), _helm("parcels", "chart", "default"))},
        is_realistic=False,
    ),
    Repository(
        name="helm-umbrella",
        worlds={"": (Part("files", ("class.yaml",)), _helm("harbour", "chart", "default"))},
    ),
    Repository(
        name="kustomize",
        worlds={
            name: (Part("kustomize", (f"overlays/{name}",)), Part("files", ("spare/*.yaml",)))
            for name in ("dev", "prod")
        },
        is_realistic=False,
    ),
    Repository(
        name="kustomize-components",
        worlds={name: (Part("kustomize", (f"overlays/{name}",)),) for name in ("north", "south")},
    ),
    Repository(name="kustomize-helm-charts", worlds={"": (Part("kustomize", ("--enable-helm", "shop")),)}),
)


def program(name: str) -> str:
    """Return the path of a program; skip the test where it is not installed."""
    return shutil.which(name) or pytest.skip(f"{name} is not installed")


def serves_kustomize(helm: str) -> bool:
    """Whether Kustomize can start this Helm: since version 4, Helm refuses the options that Kustomize asks it with."""
    command = [helm, "version", "-c", "--short"]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0  # noqa: S603 (our own arguments)


def require_programs(repository: Repository) -> None:
    """Skip the test where a program is missing that the repository is rendered with."""
    for part in {part for parts in repository.worlds.values() for part in parts}:
        if part.program != "files":
            program(_PROGRAMS[part.program])
        if "--enable-helm" in part.arguments and not serves_kustomize(program("helm")):
            pytest.skip("Kustomize renders charts with Helm 3 only")


def copy_repository(repository: Repository, folder: Path) -> Path:
    """Copy a repository into a folder and make it a work tree of git with its remote, as programs of Flux need it."""
    tree = folder / repository.name
    shutil.copytree(REPOSITORIES / repository.name, tree)
    git = program("git")
    for words in (
        ("init", "--quiet", "--initial-branch=main"),
        ("remote", "add", "origin", repository.remote),
        ("add", "--all"),
        ("-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "--quiet", "--message=all"),
    ):
        subprocess.run([git, "-C", str(tree), *words], check=True, capture_output=True)  # noqa: S603 (our own arguments)
    return tree


def truth(repository: Repository, world: str, tree: Path) -> Analysis:
    """Return the analysis of what the programs of a repository themselves make of it, for one of its worlds."""
    require_programs(repository)
    if (tree, world) not in _TRUTHS:
        _TRUTHS[tree, world] = _render(repository, world, tree)
    return _TRUTHS[tree, world]


def _render(repository: Repository, world: str, tree: Path) -> Analysis:
    objects = [raw for part in repository.worlds[world] for raw in _objects(part, tree, repository.unfilled)]
    file = tree.parent / f"{repository.name}-{world}.yaml"
    file.write_text(yaml.safe_dump_all(objects), "utf-8")
    return analyze(load_manifests([file]))


def _objects(part: Part, tree: Path, unfilled: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    """Yield the objects that a part makes, each with its namespace; not those that make others."""
    for document in _documents(part, tree):
        for raw in document["items"] if document["kind"] == "List" else [document]:
            if raw["apiVersion"].partition("/")[0].endswith(_DELIVERING):
                continue
            metadata = raw["metadata"]
            if raw["kind"] in CLUSTER_SCOPED:
                metadata.pop("namespace", None)
            else:
                metadata["namespace"] = metadata.get("namespace") or part.namespace or "default"
            yield _with_variables(raw, unfilled)


def _documents(part: Part, tree: Path) -> list[dict[str, Any]]:
    if part.program == "files":
        texts = [path.read_text("utf-8") for pattern in part.arguments for path in sorted(tree.glob(pattern))]
        return [document for text in texts for document in fast_yaml.load_all(text) if document]
    words = (program(_PROGRAMS[part.program]), *_COMMANDS[part.program])
    environment = {**os.environ, **_OFFLINE, "FLATE_CACHE_DIR": str(tree.parent / "flate")}
    rendered = subprocess.run(  # noqa: S603 (our own arguments)
        [*words, *part.arguments], cwd=tree, env=environment, capture_output=True, text=True, check=False
    )
    # Sources elsewhere cannot be reached, and flate fails for them after it printed everything else.
    assert part.program == "flate" or rendered.returncode == 0, rendered.stderr
    return [document for document in fast_yaml.load_all(rendered.stdout) if document]


def _with_variables(value: Any, unfilled: Mapping[str, str]) -> Any:  # noqa: ANN401 (any value of a field)
    if isinstance(value, dict):
        return {key: _with_variables(inner, unfilled) for key, inner in value.items()}
    if isinstance(value, list):
        return [_with_variables(inner, unfilled) for inner in value]
    return unfilled.get(value, value) if isinstance(value, str) else value
