"""Downloads one pinned archive through the ordinary client of its registry."""

import glob
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from failure import FetchError, MissingTool, NoNetwork, NoSpace

NO_NETWORK = re.compile(
    r"name resolution|could not resolve|couldn't resolve|EAI_AGAIN|ENOTFOUND|ECONNREFUSED|ECONNRESET|ETIMEDOUT|"
    r"ENETUNREACH|EHOSTUNREACH|network is unreachable|connection refused|connection timed out|no route to host|"
    r"failed to establish a new connection|proxyerror|connection broken|spurious network error|"
    r"failed to download from|read timed out|couldn't connect|could not connect|newconnectionerror", re.I)
BAD_CERTIFICATE = re.compile(r"certificate.?verify.?failed|self.signed certificate|SELF_SIGNED|ssl certificate problem", re.I)
NO_SPACE = re.compile(r"no space left on device|ENOSPC|disk quota exceeded|EDQUOT", re.I)
PACKAGE_OF_TOOL = {"pip": "python3-pip", "npm": "npm", "cargo": "cargo-web (or cargo 1.70 and newer)"}


def _label(archive: dict) -> str:
    return f"{archive['name']} {archive['version']}"


def _run(archive: dict, command: list, folder: Path, accept_failure: bool = False) -> str:
    environment = dict(os.environ, TMPDIR=str(folder), LC_ALL="C.UTF-8")
    try:
        done = subprocess.run(command, cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", check=False)
    except FileNotFoundError as missing:
        raise _missing(archive) from missing
    if done.returncode != 0 and not accept_failure:
        raise explain(archive, done.stdout)
    return done.stdout


def _missing(archive: dict) -> MissingTool:
    client = archive["client"]
    return MissingTool(f"{client} is not installed, and {_label(archive)} comes through it",
                       f"install the Debian package {PACKAGE_OF_TOOL[client]}; ./demo and ./check do that by themselves")


def explain(archive: dict, output: str) -> FetchError:
    """Reads a client's output and returns the failure that it stands for."""
    client, label = archive["client"], _label(archive)
    tail = "\n".join("    " + line for line in output.strip().splitlines()[-6:])
    if NO_SPACE.search(output):
        return NoSpace(f"{client} ran out of disk space while it downloaded {label}",
                       "free some space, or point TENURE_CACHE to a folder on another disk")
    if BAD_CERTIFICATE.search(output):
        return NoNetwork(f"{client} does not trust the certificate of its registry, or of a proxy before it, for {label}",
                         "if your network has a proxy with a certificate of its own, install that certificate "
                         "(update-ca-certificates), then run the command again")
    if NO_NETWORK.search(output):
        return NoNetwork(f"{client} could not reach its registry for {label}; it said:\n{tail}",
                         "check the network and the client's proxy settings, then run the command again; "
                         "what is already there is kept")
    return FetchError(f"{client} could not download {label}; it said:\n{tail}",
                      f"check that {client}'s registry (or your mirror of it) has this very version")


def _pip(archive: dict, folder: Path) -> None:
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:", "--retries=2",
               "--implementation=cp", "--python-version=3.11", "--abi=cp311", "--abi=abi3", "--abi=none",
               "--disable-pip-version-check", "--dest=."]
    command += [f"--platform={platform}" for platform in archive.get("platform", ["any"])]
    probe = subprocess.run([sys.executable, "-m", "pip", "--version"], capture_output=True, check=False)
    if probe.returncode != 0:
        raise _missing(archive)
    _run(archive, command + [f"{archive['name']}=={archive['version']}"], folder)


def _npm(archive: dict, folder: Path) -> None:
    _run(archive, ["npm", "pack", "--loglevel=error", "--fetch-retries=1", "--fetch-retry-mintimeout=1000",
                   "--fetch-retry-maxtimeout=5000", "--pack-destination=.",
                   f"{archive['name']}@{archive['version']}"], folder)


def _cargo(archive: dict, folder: Path) -> None:
    # `install` downloads this crate alone, then refuses it because a library has no program to install: that refusal
    # is expected. (`vendor` would bring some fifty dependencies along that nobody needs.) Cargo keeps the archive.
    output = _run(archive, ["cargo", "install", "--no-track", "--root=.", archive["name"],
                            f"--version={archive['version']}"], folder, accept_failure=True)
    home = os.environ.get("CARGO_HOME") or os.path.expanduser("~/.cargo")
    kept = glob.glob(os.path.join(glob.escape(home), "registry", "cache", "*", archive["file"]))
    if not kept:
        raise explain(archive, output)
    shutil.copyfile(kept[0], folder / archive["file"])


CLIENTS = {"pip": _pip, "npm": _npm, "cargo": _cargo}


def download(archive: dict, folder: Path) -> Path:
    """Downloads `archive` into `folder`, which is empty, and returns the file. Its hash is for the caller to check."""
    CLIENTS[archive["client"]](archive, folder)
    found = folder / archive["file"]
    if not found.is_file():
        there = ", ".join(sorted(entry.name for entry in folder.iterdir())) or "nothing"
        raise FetchError(f"{archive['client']} downloaded {there} for {_label(archive)}, expected {archive['file']}",
                         f"see whether a setting of {archive['client']} on this machine redirects it")
    return found
