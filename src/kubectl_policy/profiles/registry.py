"""Policy kinds of a snapshot: by a profile, else by the policy label, else by the shape of schema and objects."""

from __future__ import annotations

from itertools import chain
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from kubectl_policy.lazy import cached_method
from kubectl_policy.model.kind_roles import ROUTES, TARGET_KINDS
from kubectl_policy.model.kinds import KindNames, is_kubernetes_own, plural
from kubectl_policy.profiles.controllers import STANDARD_GATEWAYS, RouteSettings
from kubectl_policy.profiles.infer import infer_profile, signs_of
from kubectl_policy.profiles.load import built_in_delegations, built_in_profiles, built_in_profiles_of
from kubectl_policy.profiles.merging import TargetLevel
from kubectl_policy.profiles.profile import PolicyKindProfile

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from kubectl_policy.model import GroupKind
    from kubectl_policy.model.index import Index
    from kubectl_policy.profiles.controllers import BackendProfile, DelegationProfile, GatewayProfile
    from kubectl_policy.profiles.values import BackendRule


_NO_SETTINGS: Final[Mapping[str, str]] = MappingProxyType({})


class Registry:
    """The policy kinds of one snapshot. Built-in profiles are read only for the API groups that occur."""

    def __init__(
        self, index: Index, profiles: Iterable[PolicyKindProfile] = (), settings: Mapping[str, str] = _NO_SETTINGS
    ) -> None:
        """Give the user's own profiles precedence over the built-in ones, later ones over earlier ones.

        `settings` are values for what profiles leave open (`PolicyKindProfile.settings`).
        """
        self._index = index
        self._settings = settings
        self._user: dict[GroupKind, PolicyKindProfile] = {}
        for profile in profiles:
            # A repeated kind moves to the end, so that the order is that of the files that count.
            self._user.pop(profile.group_kind, None)
            self._user[profile.group_kind] = profile

    @property
    def policy_kinds(self) -> tuple[PolicyKindProfile, ...]:
        """The profile of every policy kind of which an object was read, sorted by group and kind."""
        profiles = (self.profile_of(group_kind) for group_kind in self._index.group_kinds)
        return tuple(profile for profile in profiles if profile)

    def profiled(self, groups: Iterable[str]) -> tuple[GroupKind, ...]:
        """Return the kinds that have a profile, also without objects: the user's, and built-in ones of some groups."""
        return (*self._user, *(kind for group in groups for kind in built_in_profiles(group)))

    def kind_names(self, group_kind: GroupKind) -> KindNames:
        """Return the names of a kind; if it is neither built in nor defined in the input, by its profile.

        The plural is then guessed, as Kubernetes' code generators make it.
        """
        names = self._index.kinds.get(group_kind)
        if names:
            return names
        profile = self._user.get(group_kind) or built_in_profiles(group_kind.group).get(group_kind)
        return KindNames(group_kind, plural(group_kind.kind.lower()), profile.short_names if profile else ())

    def delegations(self, kinds: Collection[GroupKind]) -> tuple[DelegationProfile, ...]:
        """Return how routes delegate, if references to some kinds may mean routes: the user's profiles first.

        A user's profile replaces the built-in one of its group.
        """
        user = {profile.delegation.group: profile.delegation for profile in self._user.values() if profile.delegation}
        built_in = (profile for profile in built_in_delegations(kinds) if profile.group not in user)
        return tuple(profile.with_settings(self._settings) for profile in (*user.values(), *built_in))

    @cached_method
    def gateway_profile(self, controller: str) -> GatewayProfile:
        """Return how a controller treats Gateways, by the user's last profile about it, else by a built-in one.

        A user's profile replaces the built-in one of its group. No profile is about a controller without a name.
        """
        user = [profile for profile in reversed(self._user.values()) if profile.gateways]
        groups = {profile.group_kind.group for profile in user}
        built_in = built_in_profiles_of([controller, *self._settings]) if controller else ()
        for profile in chain(user, (profile for profile in built_in if profile.group_kind.group not in groups)):
            known = profile.with_settings(self._settings) if profile.gateways else profile
            if known.gateways and controller in known.controllers:
                return known.gateways
        return STANDARD_GATEWAYS

    @cached_method
    def port_fields(self, group_kind: GroupKind) -> tuple[str, ...] | None:
        """Return the fields with port numbers of a kind's objects, for a kind that has no sections in Gateway API.

        The user's last file counts first; None if no file has any.
        """
        backend = self.backend_profile(group_kind)
        return backend.ports if backend else None

    def backend_rules(self, group_kind: GroupKind) -> tuple[BackendRule, ...]:
        """Return the rules that backends of a kind must follow for routes to send requests there."""
        backend = self.backend_profile(group_kind)
        return backend.rules if backend else ()

    def backend_profile(self, group_kind: GroupKind) -> BackendProfile | None:
        """Return the profile of a kind of backends; None if no file has one. The user's last file counts first."""
        profiles = self._profiles_of_file(group_kind.group)
        return next((profile.backends[group_kind] for profile in profiles if group_kind in profile.backends), None)

    @cached_method
    def is_route_parent(self, group_kind: GroupKind) -> bool:
        """Whether a profile file says that routes attach to the objects of a kind that is none of Gateway API's."""
        return any(group_kind in profile.route_parents for profile in self._profiles_of_file(group_kind.group))

    def _profiles_of_file(self, group: str) -> Iterator[PolicyKindProfile]:
        """Yield the user's profiles, the last one first, and then the built-in ones of a group."""
        return chain(reversed(self._user.values()), built_in_profiles(group).values())

    @cached_method
    def route_settings_of(self, group_kind: GroupKind) -> PolicyKindProfile | None:
        """Return the settings that rules of a kind of routes, or backends of a kind, make themselves, as a profile.

        None if no file has any. They have the form of a profile because they are shown and compared like settings of
        policies; the kind is no policy kind for that.
        """
        profiles = self._profiles_of_file(group_kind.group)
        profile = next((profile for profile in profiles if _own_settings(profile, group_kind)), None)
        settings = _own_settings(profile, group_kind) if profile else None
        if profile is None or settings is None:
            return None
        return PolicyKindProfile(
            group_kind=group_kind,
            policy_class="direct",
            known_by="profile",
            effective_targets=(TargetLevel(group_kind, section=group_kind in ROUTES),),
            security_fields=settings.security_fields,
            summary=settings.summary,
            route_settings=settings,
            evidence=settings.evidence,
            origin=profile.origin,
        )

    @cached_method
    def profile_of(self, group_kind: GroupKind) -> PolicyKindProfile | None:
        """Return the profile of a kind; None if it is not a policy kind."""
        if group_kind in self._user:
            profile: PolicyKindProfile | None = self._user[group_kind]
        elif group_kind in TARGET_KINDS:
            profile = None
        else:
            profile = built_in_profiles(group_kind.group).get(group_kind)
            if not profile and not is_kubernetes_own(group_kind):
                profile = infer_profile(group_kind, self._index)
        return profile.with_settings(self._settings) if profile else None

    @property
    def look_alikes(self) -> tuple[GroupKind, ...]:
        """The kinds with objects that refer to targets as policies do, and are no policy kinds; sorted."""
        candidates = (kind for kind in self._index.group_kinds if not (kind in TARGET_KINDS or is_kubernetes_own(kind)))
        return tuple(
            kind for kind in candidates if self.profile_of(kind) is None and signs_of(kind, self._index).looks_alike
        )

    def why_not_policy_kind(self, group_kind: GroupKind) -> str:
        """Return why a kind is no policy kind, as a predicate for "it"; empty if it is one."""
        if self.profile_of(group_kind):
            return ""
        if group_kind in TARGET_KINDS:
            return "is a kind that policies target"
        return signs_of(group_kind, self._index).why_not_policy_kind or "is a kind of Kubernetes itself"

    def profile(self, group_kind: GroupKind) -> PolicyKindProfile:
        """Return the profile of a policy kind, or the settings of a kind of routes in the form of a profile.

        Raises `KeyError` for a kind that is neither.
        """
        profile = self.profile_of(group_kind) or self.route_settings_of(group_kind)
        if profile is None:
            raise KeyError(group_kind)
        return profile


def _own_settings(profile: PolicyKindProfile, kind: GroupKind) -> RouteSettings | None:
    """Return the settings that rules of routes, or backends, make themselves by the file of a profile."""
    backend = profile.backends.get(kind)
    if backend is None or not backend.settings:
        return profile.routes.get(kind)
    return RouteSettings(
        fields=backend.settings,
        security_fields=backend.security_fields,
        summary=backend.summary,
        evidence=backend.evidence,
    )
