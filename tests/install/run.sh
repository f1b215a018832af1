#!/usr/bin/env bash
# run.sh BUILD COMPILER: installs BUILD into a temporary prefix, then configures, builds and runs a stranger's project
# against it, with nothing but find_package(Tenure).
set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
build="${1:?usage: run.sh BUILD COMPILER}"
compiler="${2:?usage: run.sh BUILD COMPILER}"

scratch="$(mktemp -d)"
trap 'rm -rf "$scratch"' EXIT
cmake --install "$build" --prefix "$scratch/prefix" >"$scratch/install.log" || {
  cat "$scratch/install.log"
  exit 1
}
cmake -S "$here/stranger" -B "$scratch/build" -G Ninja -DCMAKE_CXX_COMPILER="$compiler" \
  -DCMAKE_PREFIX_PATH="$scratch/prefix"
cmake --build "$scratch/build"
"$scratch/build/stranger"
if grep -rl "$here" "$scratch/prefix/lib/cmake" "$scratch/prefix/include"; then
  echo "the installed files above name the source tree" >&2
  exit 1
fi
