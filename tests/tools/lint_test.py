#!/usr/bin/env python3
"""Tests of tools/lint: each lint finds what it is for. A small tree with one fault each is made in a scratch folder."""

import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

LINTS = Path(__file__).resolve().parents[2] / "tools" / "lint"
DOCUMENTED = "/// A.\n///\n/// Returns   a\n/// Errors    b\n/// Cancel    c\n/// Threads   d\n"


class LintTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        shutil.copytree(LINTS, self.root / "tools" / "lint", ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(LINTS.parents[1] / ".clang-format", self.root)
        subprocess.run(["git", "init", "--quiet", str(self.root)], check=True)

    def write(self, name: str, text: str):
        file = self.root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def lint(self, name: str) -> tuple:
        done = subprocess.run([sys.executable, str(self.root / "tools/lint" / name)], cwd=self.root, capture_output=True,
                              text=True, check=False)
        self.assertEqual(done.stderr, "")
        return done.returncode, done.stdout

    def assert_clean(self, name: str):
        code, said = self.lint(name)
        self.assertEqual(code, 0, said)

    def assert_found(self, name: str, *texts: str):
        code, said = self.lint(name)
        self.assertEqual(code, 1, said)
        for text in texts:
            self.assertIn(text, said)

    def test_layers(self):
        self.write("include/tenure/coro/task.hpp", "#include <tenure/base/error.hpp>\n#include <memory>\n")
        self.write("src/session/lane.cpp", '#include "src/session/lane.hpp"\n#include <tenure/engine/engine.hpp>\n')
        self.write("cli/main.cpp", '#include "engines/litert/litert_engine.hpp"\n#include <tenure/tenure.hpp>\n')
        self.assert_clean("layers")
        self.write("include/tenure/base/error.hpp", "#pragma once\n#include <tenure/coro/task.hpp>\n")
        self.write("src/coro/job.cpp", '#include "session/lane.hpp"\n#include <tenure/tenure.hpp>\n')
        self.write("src/session/lane.hpp", "")
        self.write("engines/litert/device.cpp", "#include <tenure/session/session.hpp>\n")
        self.write("include/tenure/session/session.hpp", '#include "engines/fake/fake_engine.hpp"\n')
        self.assert_found("layers", "include/tenure/base/error.hpp:2", "src/coro/job.cpp:1", "src/coro/job.cpp:2",
                          "engines/litert/device.cpp:1", "include/tenure/session/session.hpp:1")

    def test_file_length(self):
        self.write("src/base/short.cpp", "\n" * 399)
        self.assert_clean("file_length")
        self.write("src/base/long.cpp", "\n" * 400)
        self.assert_found("file_length", "src/base/long.cpp: 400 lines")

    def test_words(self):
        self.write("README.md", "All is done.\n")
        self.assert_clean("words")
        self.write("src/base/a.cpp", "// TO" "DO later\n")
        self.write("README.md", "see https://py" "pi.org/project\n")
        self.assert_found("words", "src/base/a.cpp:1", "README.md:1")

    def test_doc_headings(self):
        self.write("include/tenure/base/a.hpp", f"namespace tenure {{\n{DOCUMENTED}class A {{}};\n}}  // namespace tenure\n")
        self.assert_clean("doc_headings")
        self.write("include/tenure/base/b.hpp", DOCUMENTED.replace("/// Cancel    c\n", "") + "class B {};\n")
        self.assert_found("doc_headings", "include/tenure/base/b.hpp:1: B:")

    def test_header_alone(self):
        self.write("include/tenure/base/a.hpp", "#pragma once\n#include <string>\nstd::string name();\n")
        self.assert_clean("header_alone")
        self.assertIn("0 of them compiled anew", self.lint("header_alone")[1])
        self.write("include/tenure/base/b.hpp", "#pragma once\nstd::string name();\n")
        self.assert_found("header_alone", "include/tenure/base/b.hpp", "undeclared identifier 'std'")

    def test_shell(self):
        self.write("run", "#!/usr/bin/env bash\nset -euo pipefail\necho hello\n")
        (self.root / "run").chmod(0o755)
        self.assert_clean("shell")
        self.write("other.sh", "#!/usr/bin/env bash\nif true; then\n")
        self.assert_found("shell", "other.sh: starts with #! but is not executable", "lacks `set -euo pipefail`",
                          "syntax error")

    def test_format(self):
        self.write("src/base/a.cpp", "int a() { return 1; }\n")
        self.assert_clean("format")
        self.write("src/base/b.cpp", "int   b(){return 1;}\n")
        self.assert_found("format", "src/base/b.cpp")

    def test_await_temporaries(self):
        self.write("src/coro/task.hpp", COROUTINE)
        self.write("src/coro/good.cpp", '#include "task.hpp"\n' + GOOD)
        self.query_build("good.cpp")
        self.assert_clean("await_temporaries")
        self.write("src/coro/bad.cpp", '#include "task.hpp"\n' + BAD)
        self.query_build("bad.cpp")
        self.assert_found("await_temporaries", "src/coro/bad.cpp:3: capturing closure",
                          "src/coro/bad.cpp:4: braced aggregate", "src/coro/bad.cpp:6: launch of a closure",
                          "src/coro/bad.cpp:8: launch of a closure")

    def query_build(self, name: str):
        source = self.root / "src/coro" / name
        self.write("build/release/compile_commands.json",
                   f'[{{"directory": "{self.root}", "file": "{source}", '
                   f'"command": "clang++-19 -std=c++20 -c {source}"}}]')


COROUTINE = """#include <coroutine>
struct Task {
  struct promise_type {
    Task get_return_object() { return {}; }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() {}
  };
};
struct Owned { ~Owned(); };
struct Pair { Owned a; int b; };
struct Plain { int a; Task* b = nullptr; };
template <typename T> std::suspend_never run(T) { return {}; }
std::suspend_never run_pair(Pair);
std::suspend_never run_plain(Plain);
struct Scope { template <typename T> void launch(T) {} };
"""
GOOD = """Task good(Scope scope, int value) {
  auto closure = [value] { return value; };
  co_await run(closure);
  Pair pair{Owned(), 2};
  co_await run_pair(pair);
  co_await run_plain({value});
  scope.launch([&value] { value = 1; });
}
"""
BAD = """Task bad(Scope scope, int value) {
  co_await run([value] { return value; });
  co_await run_pair({Owned(), 2});
  int local = 0;
  scope.launch([&local] { local = 1; });
  auto named = [&local] { local = 1; };
  scope.launch(named);
}
"""

if __name__ == "__main__":
    unittest.main()
