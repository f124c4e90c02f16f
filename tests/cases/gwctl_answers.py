"""What this project says to each kind of fact in gwctl's cases, by the fact's key."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tests.cases import gwctl_blast as blast
from tests.cases import gwctl_effective as effective
from tests.cases import gwctl_lists as lists
from tests.cases import gwctl_objects as objects
from tests.cases import gwctl_problems as problems
from tests.cases.gwctl_objects import names

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.cases.gwctl_question import Answer

ENFORCEMENT: Final = "enforcement"
# The facts that are about no object in particular; any other one needs the object that its question is about.
OF_THE_WORLD: Final = frozenset(
    {
        "accepted",
        "created",
        "dangling",
        "enforced",
        ENFORCEMENT,
        "errors",
        "fixed_issues",
        "new_issues",
        "not_attached",
        "unchanged_issues",
        "updated",
        "warn",
    }
)
ON_PATH: Final = "effective on path"


# To questions for a list; every other question is for what is known of one object, or of the world.
LISTS: Final[Mapping[str, Answer]] = {
    "expect": lists.listed,
    "routes": lists.route_count,
}
ANSWERS: Final[Mapping[str, Answer]] = {
    "accepted": blast.reported,
    "attached": names(objects.targets),
    "attached_gateways": names(objects.gateways_of_class),
    "attached_routes": names(objects.attached_routes),
    "backends": names(objects.backends),
    "created": problems.created,
    "dangling": problems.dangling,
    "delete_changes": blast.delete_changes,
    "delete_no_change": blast.delete_unchanged,
    "directly_attached": objects.directly_attached,
    "effective": effective.effective,
    ON_PATH: effective.effective_on_path,
    "enforced": blast.reported,
    ENFORCEMENT: blast.enforcement,
    "errors": problems.errors,
    "events": lists.events,
    "fixed_issues": problems.fixed_problems,
    "gateways": names(objects.parent_gateways),
    "inherited": objects.inherited_policies,
    "merged_default": effective.declared(overrides=False),
    "merged_override": effective.declared(overrides=True),
    "new_issues": problems.new_problems,
    "not_attached": objects.not_attached,
    "not_gateways": objects.not_gateways,
    "parents": names(objects.parents, kinds=True),
    "paths": blast.paths,
    "provenance": effective.provenance,
    "referenced_by": names(objects.referring_routes),
    "routes": names(objects.routes),
    "strategy": effective.strategy,
    "unchanged_issues": problems.unchanged_problems,
    "updated": problems.updated,
    "warn": problems.errors,
}
