"""`describe` for people and for programs."""

from typing import Final

from kubectl_policy.render.output.formats import Forms

OBJECT: Final = Forms(
    headline="describe.headline:object_headline",
    tree="describe.objects:object_tree",
    table="describe.objects:settings",
    document="describe.documents:OBJECT_DESCRIPTION",
    names="describe.objects:policies_in_force",
    rows_suffice=True,
)
POLICY: Final = Forms(
    headline="words.headlines:policy_headline",
    tree="describe.policies:policy_tree",
    table="describe.policies:targets",
    document="describe.documents:POLICY_DESCRIPTION",
    names="describe.policies:affected_objects",
    rows_suffice=True,
)
