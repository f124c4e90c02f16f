"""`describe` for people and for programs."""

from typing import Final

from kubectl_policy.render.output.formats import Forms

OBJECT: Final = Forms(
    headline="words.headlines:object_headline",
    tree="describe.objects:object_tree",
    table="describe.table:settings",
    document="describe.documents:OBJECT_DESCRIPTION",
    names="describe.table:policies_in_force",
    beside="describe.table:beside_settings",
)
POLICY: Final = Forms(
    headline="words.headlines:policy_headline",
    tree="describe.policies:policy_tree",
    table="describe.table:targets",
    document="describe.documents:POLICY_DESCRIPTION",
    names="describe.table:affected_objects",
    beside="describe.table:beside_targets",
)
