"""`why-not` for people and for programs."""

from typing import Final

from kubectl_policy.render.output.formats import Forms

WHY_NOT: Final = Forms(
    headline="words.headlines:why_not_headline",
    tree="why_not.tree:why_not_tree",
    document="why_not.documents:EFFECT_EXPLANATION",
)
