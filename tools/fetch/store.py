"""The cache on disk: what is there, is it whole, and how a file gets there in one step."""

import contextlib
import fcntl
import hashlib
import os
import shutil
import tarfile
import tempfile
import zipfile
from pathlib import Path

from failure import FetchError, NoSpace, WrongHash

SPACE_MARGIN = 32 * 1024 * 1024


def sha256_of(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def tree_sha256_of(folder: Path) -> str:
    """One hash over the names and contents of all files below `folder`."""
    digest = hashlib.sha256()
    for file in sorted(path for path in folder.rglob("*") if path.is_file()):
        digest.update(f"{sha256_of(file)}  {file.relative_to(folder).as_posix()}\n".encode())
    return digest.hexdigest()


def require_hash(name: str, expected: str, got: str) -> None:
    if got != expected:
        raise WrongHash(f"wrong sha256 of {name}\n    expected {expected}\n    got      {got}",
                        "it was thrown away; run the command again, and if it happens twice, distrust the mirror that "
                        "this machine fetches from (or pins.toml, if you have changed it)")


class Store:
    """A cache folder. Use it inside `with store.locked():`, so that two runs at once take turns."""

    def __init__(self, root: Path):
        self.root = root
        self.downloads = root / "dl"

    @contextlib.contextmanager
    def locked(self):
        self.downloads.mkdir(parents=True, exist_ok=True)
        with (self.root / ".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            for left_over in self.root.glob(".partial-*"):  # of a run that was killed: we hold the lock
                shutil.rmtree(left_over, ignore_errors=True)
            yield

    @contextlib.contextmanager
    def scratch(self):
        """A folder on the cache's own disk, so that a rename out of it is one step; gone afterwards in any case."""
        folder = Path(tempfile.mkdtemp(prefix=".partial-", dir=self.root))
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def require_space(self, size: int) -> None:
        free = shutil.disk_usage(self.root).free
        if free < size + SPACE_MARGIN:
            raise NoSpace(f"{self.root} has {free >> 20} MiB free, but fetching needs {(size + SPACE_MARGIN) >> 20} MiB",
                          "free some space, or point TENURE_CACHE to a folder on another disk")

    def is_complete(self, archive: dict) -> bool:
        """True when all that is taken out of `archive` lies in the cache and is what was pinned."""
        for take in archive.get("take", []):
            file = self.root / take["to"]
            if not file.is_file() or file.stat().st_size != take["size"] or sha256_of(file) != take["sha256"]:
                return False
        for tree in archive.get("take_tree", []):
            folder = self.root / tree["to"]
            if not folder.is_dir() or tree_sha256_of(folder) != tree["tree_sha256"]:
                return False
        return True

    def kept_archive(self, archive: dict) -> Path | None:
        """The downloaded archive, if an earlier run left a whole one."""
        file = self.downloads / archive["file"]
        return file if file.is_file() and sha256_of(file) == archive["sha256"] else None

    def keep(self, archive: dict, downloaded: Path) -> Path:
        require_hash(archive["file"], archive["sha256"], sha256_of(downloaded))
        kept = self.downloads / archive["file"]
        os.replace(downloaded, kept)
        return kept

    def take_out(self, archive: dict, source: Path) -> None:
        """Unpacks what is pinned out of `source`; each file or folder appears in the cache whole or not at all."""
        try:
            with self.scratch() as scratch, Unpacker(source) as unpacker:
                for number, take in enumerate(archive.get("take", [])):
                    part = scratch / str(number)
                    part.write_bytes(unpacker.read(take["from"]))
                    require_hash(take["from"], take["sha256"], sha256_of(part))
                    part.chmod(0o644)
                    target = self.root / take["to"]
                    target.parent.mkdir(parents=True, exist_ok=True)
                    os.replace(part, target)
                for number, tree in enumerate(archive.get("take_tree", [])):
                    self._take_tree(tree, unpacker, scratch / f"tree-{number}", scratch / f"old-{number}")
        except (KeyError, tarfile.TarError, zipfile.BadZipFile) as broken:
            raise FetchError(f"{source.name} cannot be unpacked: {broken}",
                             f"delete {source} and run the command again") from broken

    def _take_tree(self, tree: dict, unpacker, new: Path, old: Path) -> None:
        for name in unpacker.names_below(tree["from"]):
            file = new / name[len(tree["from"]) + 1:]
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(unpacker.read(name))
        for header in tree.get("forward", []):
            file = new / header["file"]
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(f"#include \"{header['include']}\"\n")
        require_hash(f"folder {tree['from']}", tree["tree_sha256"], tree_sha256_of(new))
        target = self.root / tree["to"]
        target.parent.mkdir(parents=True, exist_ok=True)
        if target.exists():
            os.rename(target, old)
        os.rename(new, target)


class Unpacker:
    """Reads members of a wheel or a tar archive by name; nothing is ever written to a path that an archive chooses."""

    def __init__(self, source: Path):
        self._zip = zipfile.ZipFile(source) if source.suffix in (".whl", ".zip") else None
        self._tar = None if self._zip else tarfile.open(source, "r:gz")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        (self._zip or self._tar).close()

    def read(self, name: str) -> bytes:
        if self._zip:
            return self._zip.read(name)
        stream = self._tar.extractfile(name)
        if stream is None:
            raise KeyError(f"{name} is not a plain file")
        return stream.read()

    def names_below(self, folder: str) -> list:
        if self._zip:
            names = [entry.filename for entry in self._zip.infolist() if not entry.is_dir()]
        else:
            names = [member.name for member in self._tar.getmembers() if member.isfile()]
        below = [name for name in names if name.startswith(folder + "/") and ".." not in name.split("/")]
        if not below:
            raise KeyError(f"no folder {folder} in it")
        return below
