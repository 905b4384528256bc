#!/usr/bin/env bash
# Creates .venv from uv.lock. Requires only a python3: uv is installed under .local/, and downloads
# Python 3.13 if the machine has none. pip accepts only files of uv whose hashes are in tools/uv-requirements.txt.
set -euo pipefail
cd "$(dirname "$0")/.."

uv_version=$(sed -n 's/^uv==\([^ ;]*\).*/\1/p' tools/uv-requirements.txt)
uv=.local/bootstrap/bin/uv

works() { "$1" -c 'import sys, ensurepip; sys.exit(sys.version_info < (3, 9))' >/dev/null 2>&1; }

find_python() { # find_python NAME...: prints the first one that runs and can create a venv
    local candidate
    for candidate in "$@"; do
        if works "$candidate"; then
            echo "$candidate"
            return
        fi
    done
    return 1
}

python313=$(find_python python3.13 "${PYENV_ROOT:-$HOME/.pyenv}"/versions/3.13.*/bin/python3.13 || true)

if [ "$("$uv" --version 2>/dev/null | cut -d' ' -f2)" != "$uv_version" ]; then
    host=${python313:-$(find_python python3 /usr/bin/python3 || true)}
    if [ -z "$host" ]; then
        echo "No python3 with venv (3.9 or later) was found. Install one, then run this again." >&2
        exit 1
    fi
    echo "Installing uv $uv_version under .local/bootstrap"
    mkdir -p .local
    "$host" -m venv --clear .local/bootstrap
    .local/bootstrap/bin/pip install --quiet --disable-pip-version-check --only-binary=:all: --require-hashes \
        --requirement tools/uv-requirements.txt
fi

echo "Installing the locked packages into .venv"
"$uv" sync --locked ${python313:+--python "$python313"}
