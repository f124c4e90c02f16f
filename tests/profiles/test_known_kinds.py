"""The table of the kinds that are known, in docs/profiles.md, is what the built-in profiles say.

`python -m tests.profiles.test_known_kinds` writes it anew.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from kubectl_policy import MergeStrategy
from kubectl_policy.model.kind_roles import GATEWAY_API
from kubectl_policy.profiles.load import built_in_profiles
from tests.profiles.test_built_in import FILES

if TYPE_CHECKING:
    from kubectl_policy.model import GroupKind
    from kubectl_policy.profiles import PolicyKindProfile

PAGE: Final = Path(__file__).parent.parent.parent / "docs" / "profiles.md"
HEADER: Final = "| kind | group | class | targets | of several policies |\n|---|---|---|---|---|\n"
SAME_LEVEL: Final = {
    "newest-challenges": "",
    "first-wins": "; on one target the older one goes first",
    "one-applies": "; on one target the oldest applies",
    "disjoint": "; on one target the newer one is refused if both set a field",
    "all-apply": "; on one target all apply",
    None: "",
}


def table() -> str:
    """A row for each kind, sorted by group and kind."""
    profiles = [
        profile for file in FILES for _, profile in sorted(built_in_profiles(file.removesuffix(".yaml")).items())
    ]
    return HEADER + "".join(_row(profile) for profile in profiles)


def _row(profile: PolicyKindProfile) -> str:
    kind = profile.group_kind
    cells = (f"`{kind.kind}`", kind.group, profile.policy_class, _targets(profile), _merges(profile))
    return f"| {' | '.join(cells)} |\n"


def _targets(profile: PolicyKindProfile) -> str:
    targets = ", ".join(sorted(map(_name, profile.declared_targets | profile.virtual_targets))) or "any"
    if not profile.filter_routes:
        return targets + (", as their parameters" if profile.role == "parameters" else "")
    return targets + ("; also by filters of rules" if profile.target_fields else ", by filters of its rules")


def _name(kind: GroupKind) -> str:
    return kind.kind if kind.group in {"", GATEWAY_API} else str(kind)


def _merges(profile: PolicyKindProfile) -> str:
    if not profile.attaches_as_known:
        return "not computed: it does not attach by references"
    together = SAME_LEVEL[profile.same_level]
    if profile.strategy_field:
        return f"as `{profile.strategy_field}` says, else {profile.strategy or 'not known'}{together}"
    if profile.stanzas in {"plural", "singular"}:
        names = "`defaults` and `overrides`" if profile.stanzas == "plural" else "`default` and `override`"
        return f"by the stanzas {names}{together}"
    if profile.strategy is MergeStrategy.NONE:
        return f"{profile.strategy}; on one target the oldest applies"
    return f"{profile.strategy}{together}" if profile.strategy else f"not known: {profile.default_strategy} is assumed"


def page_with(rows: str) -> str:
    """The page with these rows as its table, which is the last thing on it."""
    return PAGE.read_text("utf-8").partition(HEADER)[0] + rows


def test_the_page_lists_every_kind() -> None:
    """As the profiles are now."""
    assert page_with(table()) == PAGE.read_text("utf-8")


if __name__ == "__main__":
    PAGE.write_text(page_with(table()), "utf-8")
