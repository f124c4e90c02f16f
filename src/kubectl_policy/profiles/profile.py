"""Profile of a policy kind: what follows from its fields about attaching, merging and settings."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from kubectl_policy.model import GroupKind
from kubectl_policy.model.fields import FieldPath
from kubectl_policy.model.kinds import with_article
from kubectl_policy.profiles.controllers import ControllerSetting, fill_in
from kubectl_policy.profiles.fields import STANZAS, TARGET_FIELDS, ProfileFields, Role
from kubectl_policy.profiles.merging import MergeStrategy, Variant
from kubectl_policy.profiles.needs import RequiredObject, with_those_through
from kubectl_policy.profiles.summary import summarize

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kubectl_policy.model import Json
    from kubectl_policy.profiles.connections import ConnectionProfile


class PolicyKindProfile(ProfileFields, frozen=True, dict=True, rename="camel"):
    """What is known of a policy kind."""

    @property
    def target_fields(self) -> tuple[str, ...]:
        """The fields with target references; none for a kind whose policies do not attach by references."""
        return self.reference_fields if self.attachment in {"references", "partly"} else ()

    @property
    def role(self) -> Role:
        """The role of objects of the kind: policies, or filters or parameters that other objects name."""
        return (
            "filter" if self.attachment == "filters" else "parameters" if self.attachment == "parameters" else "policy"
        )

    @property
    def attaches_by_references(self) -> bool:
        """Whether policies attach by references: by their own, or as other objects name them."""
        return self.attachment not in {"connections", "none"}

    @property
    def is_staged(self) -> bool:
        """Whether policies are drafts about connections, which have no effect."""
        return self.about_connections is not None and not self.about_connections.enforced

    @property
    def about_connections(self) -> ConnectionProfile | None:
        """How policies decide about connections, if they do nothing else; None for a kind that attaches otherwise."""
        return None if self.attaches_by_references else self.connections

    @property
    def references_alone(self) -> bool:
        """Whether policies attach by references alone, so that one without any has no effect."""
        return self.attaches_by_references and self.attachment != "partly"

    @cached_property
    def every_need(self) -> tuple[RequiredObject, ...]:
        """The needs of a policy, also those in the stanzas of the kind."""
        stanzas = STANZAS[self.stanzas or "none"]
        return (*self.needs, *(need.within(stanza) for stanza in stanzas for need in self.needs))

    @cached_property
    def ignores_without_object(self) -> bool:
        """Whether there are settings that controllers ignore if an object that they name does not exist."""
        needs = with_those_through(self.needs)
        return any(need.fail_open or need.when_missing == "ignored" for need in needs)

    @property
    def default_strategy(self) -> MergeStrategy:
        """The strategy of a policy that chooses none: None for a direct kind, Atomic defaults for the rest."""
        if self.strategy:
            return self.strategy
        return MergeStrategy.NONE if self.policy_class == "direct" else MergeStrategy.ATOMIC_DEFAULTS

    def notes_about(self, fields: Iterable[str] | None = None) -> str:
        """Return the notes that matter for some settings, or for all of them; empty if there are none."""
        named = None if fields is None else [f"{field}." for field in fields]
        notes = (
            f"{field}: {note}"
            for field, note in self.notes_on.items()
            # The name of a setting may have the name of its policy behind it, in brackets.
            if named is None or any(name.startswith((f"{field}.", f"{field}[")) for name in named)
        )
        return " ".join(filter(None, (self.notes, *notes)))

    @property
    def class_phrase(self) -> str:
        """The class with its article: `a direct policy`, `a direct policy by its label` if that is doubtful."""
        is_doubtful = self.policy_class == "direct" and "class" in self.assumed
        return f"{with_article(self.policy_class)} policy{' by its label' if is_doubtful else ''}"

    @property
    def combines_by_guess(self) -> bool:
        """Whether the strategy of policies that choose none is a guess, as no profile describes the kind."""
        return self.known_by != "profile" and "merge strategy" in self.assumed

    @property
    def all_apply(self) -> bool:
        """Whether several policies are in force together; the settings of each are then below its name."""
        return self.default_strategy is MergeStrategy.ALL_APPLY or self.same_level == "all-apply"

    @property
    def maps_in_stanzas(self) -> frozenset[str]:
        """The `map_fields` inside the stanzas of GEP-713's experimental text, which replaces such maps whole."""
        fields = self.map_fields if self.stanzas in {None, "singular"} else frozenset[str]()
        split = (field.partition(".") for field in fields)
        return frozenset(rest for stanza, _, rest in split if stanza in {"default", "override"} and rest)

    @property
    def has_object_fields(self) -> bool:
        """Whether fields of the object at which the kind takes effect stand for settings."""
        return bool(self.object_fields or self.conditional_object_fields)

    @property
    def by_listener(self) -> bool:
        """Whether effective policies may depend on the listener by which requests arrive."""
        return bool(self.scopes or self.port_field) or any(part.levels or part.protocols for part in self.ignored)

    @cached_property
    def counts_anywhere(self) -> bool:
        """Whether policies count on every path, whatever acts on it and which hostnames it has."""
        return not (self.controllers or self.enabled_by or self.hostnames == "inside")

    @cached_property
    def ignores_some(self) -> bool:
        """Whether there may be something in policies that does not count."""
        return bool(self.ignored or self.port_field) or self.counting_fields is not None

    @cached_property
    def references(self) -> tuple[frozenset[str], tuple[str, ...]]:
        """The parts of a spec that are no settings but targets or strategies: keys of the spec, and deeper fields."""
        fields = sorted({*self.target_fields, *TARGET_FIELDS, self.strategy_field})
        inside = [field.removeprefix("spec.") for field in fields if field.startswith("spec.")]
        keys = frozenset(field for field in inside if field.isalnum())
        return keys, tuple(f"spec.{field}" for field in inside if field not in keys)

    def is_security(self, field: Sequence[str]) -> bool:
        """Whether a field, as its keys in the spec proper, is a security field or below one.

        In `security_fields` a `*` stands for any one key, so that `*` alone is every field. Where
        all policies apply, the field is given without the policy's name.
        """
        return any(FieldPath.parse(name).holds(field) for name in self.security_fields)

    def mentions(self, field: Sequence[str]) -> bool:
        """Whether the profile names a field of the settings, something in it or something around it."""
        return any(field[: len(named)] == named[: len(field)] for named in self._named_fields)

    @cached_property
    def _named_fields(self) -> frozenset[tuple[str, ...]]:
        """The keys of all fields of the settings that the profile names."""
        names = [
            *(part.field for part in self.summary),
            *(part.field for part in self.permissive),
            *(need.field.removeprefix("spec.") for need in self.needs),
            *(field.removeprefix("spec.") for field in self.backend_fields),
            *(field for variant in self.variants for field in variant.fields or ()),
            *(*self.security_fields, *self.whole_fields, *self.list_keys, *self.object_fields),
            *(part.field for part in self.joint_fields),
        ]
        every = (tuple(step for step in FieldPath.parse(name).steps if isinstance(step, str)) for name in names)
        return frozenset(filter(None, every))

    def summary_of(self, spec: Mapping[str, Json]) -> tuple[str, ...]:
        """Return settings in short phrases, such as `JWT from acme`; if all policies apply, those of one policy."""
        return summarize(self.summary, spec)

    def counts(self, field: str) -> bool:
        """Whether a field of the settings is one of those that count, is inside of one, or contains one."""
        return self.counting_fields is None or any(
            field == name or field.startswith((f"{name}.", f"{name}[")) or name.startswith(f"{field}.")
            for name in self.counting_fields
        )

    def at(self, target: GroupKind) -> PolicyKindProfile:
        """Return the profile for effects on objects of a kind."""
        return self._elsewhere.get(target, self)

    @cached_property
    def _elsewhere(self) -> Mapping[GroupKind, PolicyKindProfile]:
        return {target: self._varied(variant) for variant in self.variants for target in variant.targets}

    def _varied(self, variant: Variant) -> PolicyKindProfile:
        replacements = {
            "strategy": variant.strategy,
            "chooser": variant.chooser,
            "whole_fields": variant.whole_fields,
            "counting_fields": variant.fields,
            "other_fields": variant.other_fields,
            "ignored": variant.ignored,
        }
        changes: dict[str, Any] = {name: value for name, value in replacements.items() if value is not None}
        assumed = () if variant.strategy else self.assumed
        return replace(self, variants=(), delegation=None, gateways=None, assumed=assumed, **changes)

    @property
    def settings_of_fields(self) -> Mapping[str, ControllerSetting]:
        """The settings on which whole fields depend, rather than placeholders in names: see `under`."""
        names = {joint.setting for joint in self.joint_fields} | {name for need in self.needs for name in need.settings}
        return {name: setting for name, setting in self.settings.items() if name in names}

    def with_settings(self, values: Mapping[str, str]) -> PolicyKindProfile:
        """Replace placeholders of controller settings in the profile by their values or defaults."""
        if not self.settings:
            return self
        settings = {name: values.get(name, setting.default) for name, setting in self.settings.items()}
        return replace(
            self,
            controllers=frozenset(fill_in(controller, settings) for controller in self.controllers),
            global_namespace=fill_in(self.global_namespace, settings),
            restricted_targets=tuple(
                replace(target, namespace=fill_in(target.namespace, settings)) for target in self.restricted_targets
            ),
            joint_fields=tuple(joint for joint in self.joint_fields if joint.holds(settings)),
            needs=tuple(need.with_settings(settings) for need in self.needs),
            gateways=self.gateways.with_settings(settings) if self.gateways else None,
        )
