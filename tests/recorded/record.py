"""Records the cassettes anew, from a real API server with fixtures/bakery on it: `make record`."""

import os
import sys
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from tempfile import TemporaryDirectory

from kubectl_policy import cli
from tests.live.binaries import NOTHING_THERE, BuildError, programs
from tests.live.conftest import furnish
from tests.live.proxy import recording
from tests.live.server import Server, running
from tests.recorded.cassettes import COMMANDS, FOLDER, USERS, written


def _record(server: Server, user: str) -> None:
    with recording(server) as proxy, redirect_stdout(StringIO()), redirect_stderr(StringIO()):
        os.environ["KUBECONFIG"] = str(server.kubeconfig(user, url=proxy.url))
        for command in COMMANDS:
            with TemporaryDirectory() as cache:
                os.environ["KUBECACHEDIR"] = cache
                cli.run(command.split())
    FOLDER.mkdir(exist_ok=True)
    (FOLDER / f"{user}.json").write_text(written(proxy.exchanges, server.port), "utf-8")


def _main() -> int | str:
    try:
        found = programs()
    except BuildError as error:
        return str(error)
    if not found:
        return NOTHING_THERE
    with running(found) as server:
        furnish(server)
        for user in USERS:
            _record(server, user)
    return 0


if __name__ == "__main__":
    sys.exit(_main())
