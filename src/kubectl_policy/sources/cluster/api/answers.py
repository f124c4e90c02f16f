"""What a server answers: objects, lists of them, or why there are none, in words for people."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from kubectl_policy.model.fields import text_at
from kubectl_policy.model.values import value

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kubectl_policy.model.fields import Json

# As much of what a server says as one reads in a terminal.
_LONGEST_MESSAGE: Final = 400
_SECONDS: Final = re.compile(r"\s*([0-9]{1,9})\s*")
_REASONS: Final[Mapping[int, str]] = {
    400: "the server refuses the request as malformed",
    401: "the credentials were refused",
    403: "forbidden",
    404: "not found",
    405: "the server does not let it be read",
    406: "the server has no such form of it",
    410: "gone: the server knows no state that old",
    413: "the answer is too large for the server",
    429: "too many requests",
    500: "the server failed",
    502: "a proxy got no answer from the server",
    503: "the server is unavailable",
    504: "the server took too long",
}
# kube-apiserver says this where a CustomResourceDefinition converts by a webhook that does not answer as it must:
# apiextensions-apiserver, pkg/apiserver/conversion/webhook_converter.go.
_CONVERSION: Final = "conversion webhook for"
_AGAIN: Final = frozenset({429, 500, 502, 503, 504})


@value()
class Answer:
    """What was asked for, as decoded JSON."""

    status: int
    body: Mapping[str, Json]


@value()
class ListAnswer:
    """The objects of all pages of a list, and the state of the cluster that they are from.

    Objects of kinds that Kubernetes itself has do not say their `apiVersion` and `kind` in lists.
    """

    items: Sequence[Mapping[str, Json]]
    resource_version: str


class Refusal(Exception):  # noqa: N818 (what a server may always do is no error of ours)
    """Why there is no answer: it is expected, and becomes a gap.

    `status` is that of HTTP, or 0 where nothing was answered. The `reason` is ours, and the `message` what the server
    says, on one line and with nothing in it that a terminal would obey; either may be shown. `retry` tells whether
    asking again soon may help, and `wait` after how many seconds, if the server said so. The `hint` is what to do, if
    that depends on more than the status.
    """

    def __init__(  # noqa: PLR0913 (all but the first two have a name where they are given)
        self, status: int, reason: str, message: str = "", *, retry: bool = False, wait: float = 0, hint: str = ""
    ) -> None:
        """Keep the words of both apart, for a gap tells the reason and details tell the message."""
        super().__init__(f"{reason}: {message}" if message else reason)
        self.status, self.reason, self.message, self.retry, self.wait = status, reason, message, retry, wait
        self.hint = hint

    @property
    def is_conversion(self) -> bool:
        """Whether the server asked the conversion webhook of a definition, and that did not answer as it must."""
        return _CONVERSION in self.message


def shown(text: str) -> str:
    """A text from outside on one line, with nothing in it that a terminal would obey, and not longer than one reads."""
    start = text[: 2 * _LONGEST_MESSAGE]
    line = " ".join("".join(letter if letter.isprintable() else " " for letter in start).split())
    return line if len(text) <= _LONGEST_MESSAGE else f"{line[:_LONGEST_MESSAGE]}…"


def refusal_of(status: int, body: Mapping[str, Json], retry_after: str = "") -> Refusal:
    """What a status other than success means, by the `Status` object that came with it, which may be empty."""
    message = shown(text_at(body, "message")) if body.get("kind") == "Status" else ""
    if status >= 500 and _CONVERSION in message:  # noqa: PLR2004 (a failure of the server, by HTTP)
        return Refusal(status, "the conversion webhook of its definition failed", message)
    reason = _REASONS.get(status, f"the server answered with status {status}")
    seconds = _SECONDS.fullmatch(retry_after)
    wait = float(seconds[1]) if seconds else 0
    return Refusal(status, reason, message, retry=status in _AGAIN, wait=wait)
