"""What the lints look at: the files of the repository, tracked or new, but none that git ignores."""

import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CODE = {".hpp", ".cpp", ".h", ".c"}
SCRIPTS = {".py", ".sh", ".cmake"}


def all_files() -> list:
    listed = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"], cwd=ROOT,
                            capture_output=True, check=True).stdout.decode()
    names = sorted({name for name in listed.split("\0") if name})
    return [Path(name) for name in names if (ROOT / name).is_file()]


def read(file: Path) -> str:
    return (ROOT / file).read_text(encoding="utf-8", errors="replace")


def is_text(file: Path) -> bool:
    return b"\0" not in (ROOT / file).read_bytes()[:8192]


def is_script(file: Path) -> bool:
    if file.suffix in SCRIPTS or file.name == "CMakeLists.txt":
        return True
    return not file.suffix and (ROOT / file).read_bytes()[:2] == b"#!"


def code_files(*folders: str) -> list:
    return [file for file in all_files() if file.suffix in CODE and (not folders or file.parts[0] in folders)]


def public_headers() -> list:
    return [file for file in code_files("include") if file.suffix == ".hpp"]


def report(lint: str, findings: list, looked_at: str) -> int:
    """Prints one line for a clean result, or each finding; returns the exit code."""
    for finding in findings:
        print(f"{lint}: {finding}")
    if not findings:
        print(f"{lint}: clean, {looked_at}")
    return 1 if findings else 0
