#!/bin/sh
# Installs the system packages that are missing, or prints the command that would.
#   setup_system.sh build   what building needs
#   setup_system.sh test    what the tests need as well
set -eu

tools=$(dirname "$0")
python=$("$tools/find_python.sh")
python_package=$("$python" -c 'import sys; print("python%d.%d" % sys.version_info[:2])')
required=""
optional=""

need() { required="$required $*"; }
want() { optional="$optional $*"; }

"$tools/find_cxx.sh" >/dev/null || need g++
[ -f "$("$python" -c 'import sysconfig; print(sysconfig.get_path("include"))')/Python.h" ] || need "$python_package-dev"
"$python" -c 'import ensurepip, venv' 2>/dev/null || need "$python_package-venv"
command -v ccache >/dev/null || want ccache
if [ "$1" = test ]; then
  [ -f /usr/src/googletest/CMakeLists.txt ] || need googletest
  "$python" -c "import sys; sys.path.insert(0, '$tools'); import check_clang; sys.exit(not check_clang.find_clang())" ||
    want clang
fi
[ -n "$required$optional" ] || exit 0

install="apt-get install -y --no-install-recommends"
if ! command -v apt-get >/dev/null; then
  as_root=""
elif [ "$(id -u)" -eq 0 ]; then
  as_root="env"
elif sudo -n true 2>/dev/null; then
  as_root="sudo env"
else
  as_root=""
fi

if [ -z "$as_root" ]; then
  [ -z "$optional" ] || echo "[setup] optional system packages that are missing:$optional"
  [ -n "$required" ] || exit 0
  echo "[setup] system packages are missing, got no right to install them, do:" >&2
  echo "    sudo $install$required" >&2
  exit 1
fi

echo "[setup] installing system packages:$required$optional"
$as_root apt-get update -q
# shellcheck disable=SC2086
[ -z "$required" ] || $as_root DEBIAN_FRONTEND=noninteractive $install $required
# shellcheck disable=SC2086
[ -z "$optional" ] || $as_root DEBIAN_FRONTEND=noninteractive $install $optional ||
  echo "[setup] optional system packages could not be installed:$optional"
