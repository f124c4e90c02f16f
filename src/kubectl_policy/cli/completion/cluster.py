"""What is known of a cluster: what kubectl itself would complete, which has the configuration, and is fast."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Final

from kubectl_policy.cli.completion.known import Kinds, known_fields
from kubectl_policy.model import GroupKind
from kubectl_policy.model.kinds import BUILT_IN, TARGETS, KindNames, is_kubernetes_own, plural

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from kubectl_policy.profiles import PolicyKindProfile

# The options by which kubectl reaches a cluster, and by which it looks somewhere there.
OF_KUBECTL: Final = frozenset(
    {
        "--as",
        "--as-group",
        "--as-uid",
        "--cache-dir",
        "--certificate-authority",
        "--client-certificate",
        "--client-key",
        "--cluster",
        "--context",
        "--insecure-skip-tls-verify",
        "--kubeconfig",
        "--server",
        "--tls-server-name",
        "--token",
        "--user",
    }
)
_POLICIES: Final = "policies"
# What the name of a type is made of. It cannot be an option.
_IN_TYPES: Final = frozenset("abcdefghijklmnopqrstuvwxyz0123456789.,-")
_SECRETS: Final = frozenset({"secret", "secrets"})


class Cluster:
    """What kubectl completes with some options, until a time as `time.monotonic` tells it; nothing after that."""

    def __init__(self, options: Sequence[str], deadline: float) -> None:
        """Keep how kubectl is asked."""
        self._options, self._deadline = options, deadline

    def kinds(self) -> Kinds:
        """Those that policies target, that a profile describes and that are called policies, as far as they are served.

        Without an answer in time, those of Gateway API.
        """
        targets = [names for names in BUILT_IN if names.group_kind in TARGETS]
        served = sorted(self._ask("get", ""))
        if not served:
            standard = {names.group_kind.group for names in targets if names.group_kind.group}
            policies = [names for names in BUILT_IN if names.group_kind.group in standard and names not in targets]
            return Kinds(policies, targets, [])
        built_in = {_resource(names): names for names in BUILT_IN}
        kinds = Kinds([], [], [])
        for resource in served:
            names = built_in.get(resource) or KindNames(_group_kind(resource), resource.partition(".")[0])
            profiled = {_resource(each): each for each in map(_names, _profiles(names.group_kind.group).values())}
            if names.group_kind in TARGETS:
                kinds.targets.append(names)
            elif resource in profiled:
                kinds.policies.append(profiled[resource])
            elif names.plural.endswith(_POLICIES) and not is_kubernetes_own(names.group_kind):
                kinds.policies.append(names)
            elif resource in built_in:
                kinds.others.append(names)
        return kinds

    def names(self, type_name: str, namespace: str) -> tuple[Iterable[str], Iterable[str]]:
        """The names of the objects of a type in a namespace, or in that of the context; none of those everywhere.

        Nor any of Secrets: kubectl reads what is in them to tell their names.
        """
        word = type_name.lower()
        named = {each.partition(".")[0] for each in word.split(",")}
        if not word[:1].isalpha() or not _IN_TYPES.issuperset(word) or not named.isdisjoint(_SECRETS):
            return (), ()
        return self._ask(*([f"--namespace={namespace}"] if namespace else []), "get", word, ""), ()

    def namespaces(self) -> Iterable[str]:
        """The names of all namespaces."""
        return self._ask("get", "namespaces", "")

    def sections(self, type_name: str, name: str, namespace: str) -> Iterable[str]:
        """Nothing: kubectl completes no sections."""
        del type_name, name, namespace
        return ()

    def fields(self, kinds: Iterable[str]) -> Iterator[str]:
        """The fields that built-in profiles know, of some kinds or of all."""
        from kubectl_policy.profiles.load import built_in_groups

        meant = {kind.lower().partition(".")[0] for kind in kinds}
        for group in sorted(built_in_groups()):
            for kind, profile in _profiles(group).items():
                singular = kind.kind.lower()
                if not meant or meant.intersection({singular, plural(singular), *profile.short_names}):
                    yield from known_fields(profile)

    def kubeconfig(self, option: str) -> Iterable[str]:
        """What kubectl completes for `--context`, `--cluster` or `--user`."""
        return self._ask(option, "")

    def _ask(self, *words: str) -> list[str]:
        """The candidates that kubectl prints for words, without what it says of them; none if it takes too long.

        It gets no terminal: a program that it runs for credentials cannot ask for any. With it go all that it started.
        """
        import signal
        import subprocess

        left = self._deadline - time.monotonic()
        if left <= 0:
            return []
        command = ["kubectl", "__complete", *self._options, "--request-timeout=1s", *words]
        try:
            kubectl = subprocess.Popen(  # noqa: S603 (no shell; values stand behind their flags, and types are checked)
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        except (OSError, ValueError):
            return []
        with kubectl:
            try:
                out, _ = kubectl.communicate(timeout=left)
            except subprocess.TimeoutExpired:
                os.killpg(kubectl.pid, signal.SIGKILL)
                return []
        *lines, directive = out.decode("utf-8", "replace").splitlines() or [""]
        has_answered = not kubectl.returncode and directive.startswith(":")
        return [line.partition("\t")[0] for line in lines] if has_answered else []


def _group_kind(resource: str) -> GroupKind:
    """The kind of `plural.group`, in lower case, as a kind of policies is called."""
    name, _, group = resource.partition(".")
    return GroupKind(group, f"{name.removesuffix(_POLICIES)}policy" if name.endswith(_POLICIES) else name)


def _names(profile: PolicyKindProfile) -> KindNames:
    return KindNames(profile.group_kind, plural(profile.group_kind.kind.lower()), profile.short_names)


def _resource(names: KindNames) -> str:
    group = names.group_kind.group
    return f"{names.plural}.{group}" if group else names.plural


def _profiles(group: str) -> dict[GroupKind, PolicyKindProfile]:
    from kubectl_policy.profiles.load import built_in_groups, built_in_profiles

    return dict(built_in_profiles(group)) if group in built_in_groups() else {}
