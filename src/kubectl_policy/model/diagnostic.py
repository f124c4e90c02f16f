"""A problem, or a doubt, in what is inspected: a value that travels with the answer."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from kubectl_policy.model.origin import Origin
from kubectl_policy.model.refs import ObjectRef

Severity: TypeAlias = Literal["error", "warning", "info"]


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """What is wrong or uncertain, and where.

    `rule` is a stable kebab-case name; `field` is the dotted path in the subject (list items as `[0]`), empty if the
    whole object is meant; `reason` is the API's own word for it where there is one (`RefNotPermitted`).
    """

    rule: str
    severity: Severity
    message: str
    subject: ObjectRef | None = None
    field: str = ""
    origin: Origin | None = None
    related: tuple[ObjectRef, ...] = ()
    reason: str = ""
