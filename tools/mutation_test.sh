#!/usr/bin/env bash
# mutation_test.sh NAME: a build with one step taken out must make `tenure storm` exit 1. A check that cannot fail is
# worth nothing.
set -euo pipefail
root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"

name="${1:?usage: tools/mutation_test.sh NAME}"
pages="${TENURE_MUTATION_PAGES:-200}"
sound="$root/build/release/tenure"
broken="$root/build/mutation-$name/tenure"
for program in "$sound" "$broken"; do
  if [[ ! -x "$program" ]]; then
    echo "there is no $program: run ./check first, or build its preset ($(basename "$(dirname "$program")"))" >&2
    exit 1
  fi
done
scratch="$(mktemp -d)"
trap 'rm -rf "$scratch"' EXIT

storm() { # PROGRAM: prints the exit code; what the storm said is kept for the end
  local code=0
  timeout 120 "$1" storm --pages "$pages" --seed 1 --json >"$scratch/storm.json" 2>"$scratch/storm.err" || code=$?
  echo "$code"
}

# The control: what fails in the sound build as well says nothing about the variant.
code="$(storm "$sound")"
if [[ "$code" != 0 ]]; then
  cat "$scratch/storm.json" "$scratch/storm.err"
  echo "the storm of the sound build exited with $code, expected 0: the variant cannot be judged" >&2
  exit 1
fi
code="$(storm "$broken")"
cat "$scratch/storm.json"
tail -n 20 "$scratch/storm.err" >&2
if [[ "$code" != 1 ]]; then
  echo "NOT caught: the storm of the broken variant $name exited with $code, expected 1" >&2
  exit 1
fi
echo "caught: the storm of the broken variant $name exited with 1"
