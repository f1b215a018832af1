"""Runs a compiler-like check on many files at once, and skips those for which nothing has changed since they passed.

Nothing changed means: the check's own key, the file, and all files that it included last time have the same content.
"""

import concurrent.futures
import functools
import hashlib
import json
import os
import subprocess
from pathlib import Path

import tree

CACHE = tree.ROOT / "build" / "lint-cache"


@functools.lru_cache(maxsize=None)
def content_hash(file: str) -> str:
    try:
        return hashlib.sha256((tree.ROOT / file).read_bytes()).hexdigest()
    except OSError:
        return "missing"


def key_of(salt: str, files: list) -> str:
    digest = hashlib.sha256(salt.encode())
    for file in sorted(files):
        # What lies outside the repository belongs to packages; their versions change with the salt's compiler.
        if not file.startswith("/usr/"):
            digest.update(f"{file} {content_hash(file)}\n".encode())
    return digest.hexdigest()


def dependencies_of(depfile: Path) -> list:
    text = depfile.read_text().replace("\\\n", " ")
    return text.split(":", 1)[1].split() if ":" in text else []


class PerFile:
    """One check. `command_for(file)` gives its command line; `judge(done)` gives the text of its findings, or ''."""

    def __init__(self, name: str, salt: str, command_for, judge, dependencies=None):
        self.folder = CACHE / name
        self.salt = salt
        self.command_for = command_for
        self.judge = judge
        self.dependencies = dependencies or {}

    def run(self, files: list) -> tuple:
        """Returns (findings, how many files were looked at anew)."""
        self.folder.mkdir(parents=True, exist_ok=True)
        stale = [file for file in files if not self._passed_before(file)]
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            findings = [finding for finding in pool.map(self._check, stale) if finding]
        return findings, len(stale)

    def _record(self, file: Path) -> Path:
        return self.folder / (str(file).replace("/", "+") + ".json")

    def _passed_before(self, file: Path) -> bool:
        try:
            record = json.loads(self._record(file).read_text())
        except (OSError, ValueError):
            return False
        return record["key"] == key_of(self.salt, record["files"])

    def _check(self, file: Path) -> str:
        depfile = self.folder / (str(file).replace("/", "+") + ".d")
        command = [argument.replace("@DEPFILE@", str(depfile)) for argument in self.command_for(file)]
        done = subprocess.run(command, cwd=tree.ROOT, capture_output=True, text=True, errors="replace", check=False)
        finding = self.judge(done)
        if finding:
            self._record(file).unlink(missing_ok=True)
            return f"{file}:\n{finding}"
        included = dependencies_of(depfile) if depfile.is_file() else self.dependencies.get(str(file), [])
        if included:
            files = sorted({str(file), *included})
            self._record(file).write_text(json.dumps({"key": key_of(self.salt, files), "files": files}))
        return ""


def dependencies_in(build: Path) -> dict:
    """What each source of a built tree includes, from Ninja's own record, by the source's name in the repository."""
    listed = subprocess.run(["ninja", "-C", str(build), "-t", "deps"], capture_output=True, text=True, check=False).stdout
    found = {}
    for block in listed.split("\n\n"):
        paths = [line.strip() for line in block.splitlines()[1:] if line.strip()]
        ours = [os.path.relpath(path if path.startswith("/") else build / path, tree.ROOT) for path in paths
                if not path.startswith("/usr/")]
        if ours:
            found[ours[0]] = ours
    return found


def compiled_sources(build: Path) -> list:
    """The repository's own sources in a compilation database."""
    entries = json.loads((build / "compile_commands.json").read_text())
    names = {os.path.relpath(entry["file"], tree.ROOT) for entry in entries}
    return sorted(Path(name) for name in names if not name.startswith("..") and not name.startswith("build/"))
