"""`describe` for people and for programs."""

from typing import Final

from kubectl_policy.render.output.formats import Forms

OBJECT: Final = Forms(
    headline="describe.headline:object_headline",
    tree="describe.objects:object_tree",
    table="describe.table:settings",
    document="describe.documents:OBJECT_DESCRIPTION",
    names="describe.objects:policies_in_force",
    rows_suffice=True,
)
SEVERAL: Final = Forms(
    headline="describe.several:several_headline",
    tree="describe.several:several_tree",
    table="describe.several:several_tables",
    document="describe.documents:DESCRIPTIONS",
    names="describe.several:several_names",
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
