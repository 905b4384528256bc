#!/usr/bin/env bash
# Installs Debian's Chromium for the browser tests, unless there is one. Needs the rights to install packages.
set -euo pipefail
command -v chromium >/dev/null && exit 0
command -v apt-get >/dev/null || { echo "chromium is missing: install it." >&2; exit 1; }
as_root=()
[ "$(id -u)" -eq 0 ] || as_root=(sudo)
echo "Installing chromium"
export DEBIAN_FRONTEND=noninteractive
"${as_root[@]}" apt-get update -qq
"${as_root[@]}" apt-get install -qq --no-install-recommends chromium >/dev/null
