"""The ways a fetch can fail. Each has its own exit code and says what to try."""

import errno


class FetchError(Exception):
    """A failure that is told to the user without a stack trace."""

    exit_code = 1

    def __init__(self, what: str, remedy: str):
        super().__init__(what)
        self.remedy = remedy


class NoNetwork(FetchError):
    exit_code = 3


class NoSpace(FetchError):
    exit_code = 4


class WrongHash(FetchError):
    exit_code = 5


class UnsupportedPlatform(FetchError):
    exit_code = 6


class MissingTool(FetchError):
    exit_code = 7


def from_os_error(error: OSError, place: str) -> FetchError:
    """Turns an error of the operating system into one that names the place and a remedy."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return NoSpace(f"no space left while writing to {place}",
                       "free some space, or point TENURE_CACHE to a folder on another disk; "
                       "nothing half-written was left behind")
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return FetchError(f"not allowed to write to {error.filename or place}",
                          "make the folder writable, or point TENURE_CACHE to one that is")
    return FetchError(f"{error.strerror or error} ({error.filename or place})",
                      "look at the file or folder named above, then run the command again")
