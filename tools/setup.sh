# shellcheck shell=bash
# Shared by ./demo, ./check and .ci/run: messages, the packages of the system, the engine and the models.
# Sourced, never run.
# shellcheck disable=SC2034

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
# One compiler cache for all clones on a machine: paths below the root count as relative, and where it lies as nothing.
export CCACHE_BASEDIR="$root" CCACHE_NOHASHDIR=1
jobs="${TENURE_JOBS:-$(nproc)}"
export NINJA_STATUS="[%f/%t] "

packages_to_build=(
  clang-19 lld-19 g++-12 libstdc++-12-dev cmake ninja-build ccache git python3
  libcli11-dev nlohmann-json3-dev libfmt-dev libstb-dev libgtest-dev libgmock-dev libbenchmark-dev
)
packages_to_check=(clang-tidy-19 clang-format-19 clang-tools-19 libclang-rt-19-dev)

say() { printf '%s\n' "$*"; }

# fail WHAT REMEDY: ends the program with a message that says what to do.
fail() {
  printf '\nfailed: %s\n  what to do: %s\n' "$1" "$2" >&2
  exit 1
}

now_ms() {
  local now="${EPOCHREALTIME/[.,]/}"
  echo $((now / 1000))
}

# seconds MS: 12345 becomes "12.3 s".
seconds() { printf '%d.%d s' $(($1 / 1000)) $(($1 % 1000 / 100)); }

# quietly LOG COMMAND…: the output goes to LOG; every ten seconds a line says how far it is.
quietly() {
  local log="$1" began last waited=0
  shift
  mkdir -p "$(dirname "$log")"
  began="$(now_ms)"
  "$@" >"$log" 2>&1 &
  local worker=$!
  # shellcheck disable=SC2064
  trap "kill $worker 2>/dev/null || true" INT TERM
  while kill -0 "$worker" 2>/dev/null; do
    sleep 0.1
    waited=$((waited + 1))
    if ((waited % 100 == 0)); then
      last="$(tail -c 300 "$log" | tr '\r' '\n' | tail -n 1 | cut -c 1-90)"
      say "      $(seconds $(($(now_ms) - began))): $last"
    fi
  done
  trap - INT TERM
  wait "$worker"
}

require_platform() {
  if [[ "$(uname -s)" != Linux || "$(uname -m)" != x86_64 ]]; then
    fail "this is $(uname -s) on $(uname -m); the scripts and the pinned engine are for Linux on x86_64" \
      "use such a machine, or build without engines: cmake -B build -DTENURE_WITH_LITERT=OFF"
  fi
}

as_root() {
  if [[ "$(id -u)" == 0 ]]; then
    "$@"
  else
    sudo -n "$@"
  fi
}

# Prints those of the given Debian packages that are not installed.
missing_packages() {
  local installed package
  installed=" $(dpkg-query -W -f '${db:Status-Status} ${Package}\n' 2>/dev/null | sed -n 's/^installed //p' | tr '\n' ' ')"
  for package in "$@"; do
    [[ "$installed" == *" $package "* ]] || echo "$package"
  done
}

# Prints the packages for fetching whose tools are missing; none when the cache is complete.
missing_fetch_packages() {
  if command -v python3 >/dev/null && python3 "$root/tools/fetch/fetch" --is-complete 2>/dev/null; then
    return
  fi
  [[ -e /etc/ssl/certs/ca-certificates.crt ]] || echo ca-certificates
  python3 -m pip --version >/dev/null 2>&1 || echo python3-pip
  command -v npm >/dev/null || echo npm
  if ! cargo_is_new_enough; then
    echo cargo-web
  fi
}

# Cargo learned to ask for one crate at a time, without a clone of the whole index, in 1.70.
cargo_is_new_enough() {
  local version
  version="$(cargo --version 2>/dev/null | sed -n 's/^cargo 1\.\([0-9]*\)\..*/\1/p')"
  [[ -n "$version" && "$version" -ge 70 ]]
}

# install_packages PACKAGE…: installs those that are missing, asking nothing.
install_packages() {
  local log="$root/build/setup/apt.log" missing
  if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    fail "this system has no apt" "install the tools named in tools/setup.sh yourself; only Debian 12 is tried"
  fi
  mapfile -t missing < <(missing_packages "$@"; missing_fetch_packages)
  if ((${#missing[@]} == 0)); then
    say "      all packages are there"
    return
  fi
  say "      installing: ${missing[*]}"
  if [[ "$(id -u)" != 0 ]] && ! sudo -n true 2>/dev/null; then
    fail "packages are missing, and this user may not install any without a password" \
      "run as root: apt-get install -y ${missing[*]}"
  fi
  quietly "$log" as_root apt-get update -q || apt_failed "$log"
  quietly "$log" as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends \
    -o Dpkg::Use-Pty=0 "${missing[@]}" || apt_failed "$log"
  hash -r
}

apt_failed() {
  tail -n 15 "$1" >&2
  if grep -qiE 'resolv|could not connect|network is unreachable|failed to fetch' "$1"; then
    fail "apt could not reach the Debian mirror" "check the network and apt's proxy settings, then run this again"
  elif grep -qiE 'no space left|not enough free space|enough space' "$1"; then
    fail "the disk is full" "free about 2 GB, then run this again"
  elif grep -qi 'unable to locate package' "$1"; then
    fail "a package is unknown to this system" "use Debian 12 (bookworm) with its updates and security suites"
  fi
  fail "apt could not install the packages; the end of $1 is above" "mend what it says, then run this again"
}

# require_disk MEGABYTES: fails when the repository's disk has less than that.
require_disk() {
  local free
  free="$(df --output=avail -m "$root" | tail -n 1 | tr -d ' ')"
  if ((free < $1)); then
    fail "the disk of $root has $free MiB free; building needs about $1 MiB" "free some space, then run this again"
  fi
}
