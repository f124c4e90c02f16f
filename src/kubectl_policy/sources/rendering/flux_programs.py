"""Programs that render whole repositories of Flux: flate, with the sources and charts that it has cached before.

flate wants a git work tree, for which an empty `.git` is enough. It prints the objects that Kustomizations and
HelmReleases come to, but not those in the folder at which it starts: these are in the files. It labels objects with
what made them, as Flux does, and logs everything that it could not render. A variable whose value is encrypted stays
one; but those of a Secret or ConfigMap that is not in the repository become empty, which only the cluster could tell:
objects of such a Kustomization are not to be taken from here.
"""

from __future__ import annotations

import os
import posixpath
import re
from ast import literal_eval
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from kubectl_policy.model import Problem
from kubectl_policy.model.fields import mapping_at
from kubectl_policy.sources.files.disk import Disk, RepositoriesOnDisk
from kubectl_policy.sources.files.exclusion import Exclusions, Search
from kubectl_policy.sources.files.tree import OWN_IGNORE_FILE
from kubectl_policy.sources.programs.cache import user_caches
from kubectl_policy.sources.programs.inputs import Inputs
from kubectl_policy.sources.programs.installed import find_program
from kubectl_policy.sources.programs.jobs import FOLDER, Job
from kubectl_policy.sources.rendering.printed import printed_in

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kubectl_policy.sources.files.tree import FileTree
    from kubectl_policy.sources.rendering.printed import Printed

_FLATE: Final = "flate"
# It may render hundreds of charts.
_SECONDS: Final = 600.0
_COMMAND: Final = ("build", "all", "--no-progress", "--log-level=debug", "--skip-secrets=false", "--skip-crds=false")
# Credentials are in a cluster, and values in it are not known here anyway.
_WITHOUT_CLUSTER: Final = ("--allow-missing-secrets",)
_WITHOUT_NETWORK: Final = ("--restrict-egress", "--source-retry-attempts=1")
# Entries of its cache: what was fetched, by content or by source.
_FETCHED: Final = ("blobs/*/*", "sources/*/*", "git-mirrors/*")
_LOCK: Final = ".lock"
_MAKERS: Final = (
    ("Kustomization", "kustomize.toolkit.fluxcd.io"),
    ("HelmRelease", "helm.toolkit.fluxcd.io"),
)
_QUOTED: Final = r'(?:"(?:[^"\\]|\\.)*"|\S*)'
_FAILURE: Final = re.compile(
    rf' msg="resource failed" id=(?P<id>{_QUOTED}) reason=(?P<reason>{_QUOTED})(?: file=(?P<file>{_QUOTED}))?'
)
# It writes this for an encrypted value.
_ENCRYPTED: Final = re.compile(r"\.\.PLACEHOLDER_([\w.-]+?)\.\.")
_ERROR: Final = re.compile(r"^flate error: (.+)$", re.MULTILINE)
_VERDICT: Final = re.compile(r"^ *✗ (\d+) failed", re.MULTILINE)
# Every server is behind a proxy that does not exist, or forbidden.
_UNREACHABLE: Final = re.compile(r'(?:Get|Head|Post) "([^"]+)": .*(?:connection refused|--restrict-egress)')


class FluxProgram(Struct, frozen=True, kw_only=True):
    """Program that renders repositories of Flux: its name and its path."""

    name: str
    path: str


class Maker(Struct, frozen=True):
    """Kustomization or HelmRelease that makes objects."""

    kind: str
    namespace: str
    name: str


class FluxObject(Struct, frozen=True, kw_only=True):
    """Object that a program printed."""

    printed: Printed
    """The object."""
    maker: Maker | None = None
    """None for hooks of Helm, of which it is not said."""


class FluxFailure(Struct, frozen=True, kw_only=True):
    """Object of Flux that could not be rendered, be it for itself or for something that it depends on."""

    kind: str
    namespace: str
    name: str
    message: str
    file: str = ""
    """The path from the repository of the file that declares it, if it is said."""
    address: str = ""
    """The address that would have to be fetched for it; empty if network does not help."""


class FluxOutput(Struct, frozen=True, kw_only=True):
    """Result of rendering a repository."""

    objects: tuple[FluxObject, ...] = ()
    problems: tuple[Problem, ...] = ()
    """Reasons for which parts of the output cannot be read."""
    failures: tuple[FluxFailure, ...] = ()
    complaint: str = ""
    """The reason for which nothing was rendered, or not all of it, without saying what."""


def flux_program() -> FluxProgram | None:
    """Return the program that is installed, if any is."""
    path = find_program(_FLATE)
    return FluxProgram(name=_FLATE, path=path) if path else None


def repository_inputs(tree: FileTree, folder: str, addresses: Iterable[str] = ()) -> Inputs:
    """Gather the files of a repository but for those that git ignores. Raises InputsError.

    A GitRepository with one of the addresses stands for the repository itself.
    """
    inputs = Inputs(tree)
    inputs.write(posixpath.join(folder, ".git/HEAD"), "ref: refs/heads/main\n")
    remotes = "".join(
        f'[remote "r{number}"]\n\turl = {address if ":" in address else f"https://{address}"}\n'
        for number, address in enumerate(addresses)
        if re.fullmatch(r"[\w.:/@~+-]+", address)
    )
    inputs.write(posixpath.join(folder, ".git/config"), f"[core]\n\tbare = false\n{remotes}")
    if isinstance(tree, RepositoriesOnDisk):
        names = [name for name in Disk.ignore_files if name != OWN_IGNORE_FILE]
        search = Search(Exclusions(), tree, folder, names)
        inputs.copy_folder(folder, lambda path, is_folder: search.leaves_out(tree.source(path), is_folder=is_folder))
    else:
        inputs.copy_folder(folder)
    return inputs


def flux_job(program: FluxProgram, inputs: Inputs, folder: str, *, network: bool = False) -> Job:
    """Return the job that renders everything that the Kustomizations in a folder lead to.

    Without network, sources and charts are taken from the repository and from the cache of the program.
    """
    arguments = [*_COMMAND, *_WITHOUT_CLUSTER]
    context = ""
    if not network:
        arguments += _WITHOUT_NETWORK
        if cache := _cache():
            arguments.append(f"--cache-dir={cache}")
            context = _state_of(cache)
    return Job(
        command=(program.path, *arguments, f"--path={FOLDER}/{folder}"),
        inputs=inputs,
        folder=folder,
        # It ends with 1 if anything could not be rendered.
        codes=(0, 1),
        limit=_SECONDS,
        context=context,
    )


def _cache() -> Path | None:
    """Return the cache that the program has filled before; None if there is none."""
    chosen = os.environ.get("FLATE_CACHE_DIR")
    caches = user_caches()
    folder = Path(chosen).absolute() if chosen else caches and caches / _FLATE
    return folder if folder and folder.is_dir() else None


def _state_of(cache: Path) -> str:
    """Return a text that changes when something is fetched into a cache."""
    entries: list[str] = []
    for pattern in _FETCHED:
        for path in cache.glob(pattern):
            with suppress(OSError):
                if path.suffix != _LOCK:
                    entries.append(f"{path.name} {path.stat().st_mtime_ns}")
    return blake2b("\n".join(sorted(entries)).encode(), digest_size=20).hexdigest()


def read_flux_output(out: str, err: str) -> FluxOutput:
    """Read what the program printed, and what it reported."""
    failures = tuple(sorted(_failures(err), key=lambda failure: (failure.kind, failure.namespace, failure.name)))
    complaint = match[1] if (match := _ERROR.search(err)) else ""
    if not failures and not complaint and (match := _VERDICT.search(err)):
        complaint = f"{match[1]} objects of Flux failed, and it is not said which"
    printed = [*printed_in(_ENCRYPTED.sub(r"${\1}", out))]
    return FluxOutput(
        objects=tuple(
            FluxObject(printed=entry, maker=_maker(entry)) for entry in printed if not isinstance(entry, Problem)
        ),
        problems=tuple(entry for entry in printed if isinstance(entry, Problem)),
        failures=failures,
        complaint=complaint,
    )


def _maker(printed: Printed) -> Maker | None:
    """Return what an object says it was made by; the labels of a Kustomization are set last."""
    labels = mapping_at(printed.raw, "metadata.labels")
    for kind, group in _MAKERS:
        namespace, name = labels.get(f"{group}/namespace"), labels.get(f"{group}/name")
        if isinstance(namespace, str) and isinstance(name, str):
            return Maker(kind, namespace, name)
    return None


def _failures(err: str) -> Iterator[FluxFailure]:
    for match in _FAILURE.finditer(err):
        identity, reason, file = (_unquoted(match[part] or "") for part in ("id", "reason", "file"))
        kind, _, path = identity.partition("/")
        namespace, _, name = path.rpartition("/")
        message = " ".join(reason.split())
        unreachable = _UNREACHABLE.search(message)
        address = unreachable[1] if unreachable else ""
        if unreachable:
            message = f"{message[: unreachable.start()]}{address} was not fetched"
        yield FluxFailure(kind=kind, namespace=namespace, name=name, message=message, file=file, address=address)


def _unquoted(text: str) -> str:
    """Return a text that is quoted as Go does it, which is as Python does it."""
    if not text.startswith('"'):
        return text
    try:
        return str(literal_eval(text))
    except (ValueError, SyntaxError):
        return text.strip('"')
