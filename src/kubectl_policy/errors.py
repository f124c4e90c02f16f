"""The exceptions that mean "there is no answer", each with a message for people and a hint. This imports nothing."""

# Exit codes besides 0: of an answer with findings or differences, of an incomplete answer on which people act, and of
# an interrupted command.
FOUND = 1
INCOMPLETE = 4
INTERRUPTED = 130


class PolicyError(Exception):
    """No answer can be given.

    `message` says what is wrong and where (file:line or object); `hint` says what to do about it and may be empty.
    Problems in what is inspected are not exceptions but `Diagnostic` values: they travel with the answer.
    """

    exit_code = 3

    def __init__(self, message: str, hint: str = "") -> None:
        """Keep the message and the hint apart: the command line prints them on two lines."""
        super().__init__(message)
        self.message = message
        self.hint = hint


class UsageError(PolicyError):
    """The question itself is malformed: an unknown type, a missing name, options that exclude each other."""

    exit_code = 2


class SourceError(PolicyError):
    """The input cannot be read at all: a missing path, a directory without permission, no manifests in it."""


class NothingThereError(SourceError):
    """The input is missing: no such path in a revision, no manifest, no object."""


class ClusterError(SourceError):
    """The cluster cannot be asked at all: no configuration, no connection, no valid credentials."""


class NoClusterError(ClusterError):
    """No kubeconfig or option names a cluster."""


class NotFoundError(PolicyError):
    """The object in question was not read."""


class ProfileError(PolicyError):
    """A profile file is malformed; the message names file, line, field and what is allowed."""

    exit_code = 2


class StillToBeRead(Exception):  # noqa: N818 (no error: the question is asked again)
    """An answer needs objects of a cluster that are still to be read."""
