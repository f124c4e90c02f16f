"""Why a policy has no effect on an object, as a versioned document."""

from typing import Final

from kubectl_policy.questions.why_not.why_not import WhyNot
from kubectl_policy.render.output.documents import answer_document
from kubectl_policy.render.words.headlines import why_not_headline

EFFECT_EXPLANATION: Final = answer_document(WhyNot, "EffectExplanation", why_not_headline)
