#!/usr/bin/env python3
"""Tests of tools/fetch with clients that are scripts of ours: no network is used."""

import hashlib
import os
import subprocess
import sys
import tarfile
import tempfile
import unittest
from pathlib import Path

FETCH = Path(__file__).resolve().parents[2] / "tools" / "fetch" / "fetch"
MODEL = b"a model of no use"


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


class FetchTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        self.cache = self.root / "cache"
        self.tools = self.root / "tools"
        self.tools.mkdir()
        (self.root / "model.tflite").write_bytes(MODEL)
        self.archive = self.root / "toy-1.0.0.tgz"
        with tarfile.open(self.archive, "w:gz") as tar:
            tar.add(self.root / "model.tflite", "package/model.tflite")
        self.client("npm", f"echo run >>{self.root}/calls\ncp {self.archive} .")
        self.pin()

    def client(self, name: str, body: str):
        script = self.tools / name
        script.write_text(f"#!/bin/sh\n{body}\n")
        script.chmod(0o755)

    def pin(self, archive_hash=None, model_hash=None, client="npm", file="toy-1.0.0.tgz", size=None):
        (self.root / "pins.toml").write_text(f"""
[[archive]]
name = "toy"
version = "1.0.0"
client = "{client}"
file = "{file}"
size = {self.archive.stat().st_size if size is None else size}
sha256 = "{archive_hash or sha256(self.archive.read_bytes())}"
licence = "none"
what = "a toy"

[[archive.take]]
from = "package/model.tflite"
to = "models/toy.tflite"
size = {len(MODEL)}
sha256 = "{model_hash or sha256(MODEL)}"
""")

    def fetch(self, *arguments, prefix=(), path=None):
        environment = dict(os.environ, TENURE_CACHE=str(self.cache), HOME=str(self.root),
                           PATH=path or f"{self.tools}:{os.environ['PATH']}")
        return subprocess.run([*prefix, sys.executable, str(FETCH), "--pins", str(self.root / "pins.toml"), *arguments],
                              env=environment, capture_output=True, text=True, check=False)

    def assert_nothing_left(self):
        left = [file for file in self.cache.rglob("*") if file.is_file() and file.name != ".lock"]
        self.assertEqual(left, [])
        self.assertEqual(list(self.cache.glob(".partial-*")), [])

    def assert_fails(self, done, code: int, *texts: str):
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        for text in (*texts, "what to do:"):
            self.assertIn(text, done.stderr)
        self.assertNotIn("Traceback", done.stderr)
        self.assert_nothing_left()

    def test_fetches_once_and_is_then_content(self):
        self.assertEqual(self.fetch("--is-complete").returncode, 1)
        first = self.fetch()
        self.assertEqual(first.returncode, 0, first.stderr)
        self.assertEqual((self.cache / "models/toy.tflite").read_bytes(), MODEL)
        self.assertEqual(self.fetch().returncode, 0)
        self.assertEqual(self.fetch("--is-complete").returncode, 0)
        self.assertEqual((self.root / "calls").read_text(), "run\n")

    def test_mends_a_damaged_file_from_the_kept_archive_offline(self):
        self.fetch()
        (self.cache / "models/toy.tflite").write_bytes(MODEL[::-1])
        self.assertEqual(self.fetch("--offline").returncode, 0)
        self.assertEqual((self.cache / "models/toy.tflite").read_bytes(), MODEL)

    def test_offline_without_an_archive_names_it(self):
        self.assert_fails(self.fetch("--offline"), 1, "toy 1.0.0", "--offline")

    def test_wrong_hash_of_the_archive(self):
        self.pin(archive_hash="0" * 64)
        self.assert_fails(self.fetch(), 5, "toy-1.0.0.tgz", "expected " + "0" * 64, sha256(self.archive.read_bytes()))

    def test_wrong_hash_of_a_file_in_it_leaves_no_such_file(self):
        self.pin(model_hash="1" * 64)
        done = self.fetch()
        self.assertEqual(done.returncode, 5)
        self.assertIn("package/model.tflite", done.stderr)
        self.assertFalse((self.cache / "models/toy.tflite").exists())

    def test_no_network(self):
        self.client("npm", "echo 'npm error code ENOTFOUND' >&2; exit 1")
        self.assert_fails(self.fetch(), 3, "npm could not reach its registry for toy 1.0.0", "ENOTFOUND")

    def test_client_runs_out_of_space(self):
        self.client("npm", "echo half >toy-1.0.0.tgz; echo 'npm error code ENOSPC' >&2; exit 1")
        self.assert_fails(self.fetch(), 4, "npm ran out of disk space", "TENURE_CACHE")

    def test_too_little_space_is_noticed_before_anything_is_fetched(self):
        self.pin(size=1 << 60)
        self.assert_fails(self.fetch(), 4, "MiB free")
        self.assertFalse((self.root / "calls").exists())

    def test_unknown_version(self):
        self.client("npm", "echo 'npm error code ETARGET' >&2; exit 1")
        self.assert_fails(self.fetch(), 1, "npm could not download toy 1.0.0", "ETARGET")

    def test_missing_client(self):
        self.assert_fails(self.fetch(path="/nowhere"), 7, "npm is not installed", "Debian package npm")

    def test_unsupported_platform(self):
        self.assert_fails(self.fetch(prefix=("setarch", "i686")), 6, "Linux on i686")

    def test_left_overs_of_a_killed_run_are_removed(self):
        left_over = self.cache / ".partial-killed"
        left_over.mkdir(parents=True)
        (left_over / "half").write_text("half")
        self.assertEqual(self.fetch().returncode, 0)
        self.assertFalse(left_over.exists())

    def test_cache_that_may_not_be_written(self):
        self.cache.write_text("a file stands where the folder should be")
        done = self.fetch()
        self.assertEqual(done.returncode, 1)
        self.assertIn("what to do:", done.stderr)
        self.assertNotIn("Traceback", done.stderr)

    def test_every_real_pin_is_whole(self):
        listed = subprocess.run([sys.executable, str(FETCH), "--list"], capture_output=True, text=True, check=False,
                                env=dict(os.environ, TENURE_CACHE=str(self.cache)))
        self.assertEqual(listed.returncode, 0, listed.stderr)
        self.assertIn("ai-edge-litert 2.1.6", listed.stdout)


if __name__ == "__main__":
    unittest.main()
