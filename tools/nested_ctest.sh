#!/usr/bin/env bash
# nested_ctest.sh PRESET LABEL: runs the tests of LABEL in build/PRESET. So the release build's ctest can run what
# stands in instrumented builds.
set -euo pipefail
root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"

if (($# != 2)); then
  echo "usage: tools/nested_ctest.sh PRESET LABEL" >&2
  exit 2
fi
preset="$1"
label="$2"
if [[ ! -f "$root/build/$preset/CTestTestfile.cmake" ]]; then
  echo "there is no build/$preset: run ./check first, or: cmake --preset $preset && cmake --build build/$preset" >&2
  exit 1
fi
# A program that was not built has no labels, so its absence would pass for a label without tests.
unbuilt="$(ctest --test-dir "$root/build/$preset" -N | sed -n 's/.*: \(.*\)_NOT_BUILT.*/\1/p')"
if [[ -n "$unbuilt" ]]; then
  echo "build/$preset is not complete, it lacks $unbuilt: run ./check, or: cmake --build build/$preset" >&2
  exit 1
fi
exec ctest --test-dir "$root/build/$preset" -L "^$label\$" -j "${TENURE_JOBS:-$(nproc)}" --output-on-failure --no-tests=ignore
