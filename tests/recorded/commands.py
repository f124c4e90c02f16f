"""The commands that are recorded, and who gives them."""

from typing import Final

from tests.live.server import ADMIN, BAKER

USERS: Final = (ADMIN, BAKER)
COMMANDS: Final = (
    "describe httproute/baker -n baker",
    "describe retrypolicy/resilience -n baker",
    "get policies -A",
    "blast-radius retrypolicy/resilience -n baker",
    "status -A",
    "explain retrypolicy",
)
