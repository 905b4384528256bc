#!/usr/bin/env bash
# Installs the tools and libraries of tools/node/package.json into .local/node, unless they are there.
set -euo pipefail
cd "$(dirname "$0")/../.."
pinned=tools/node target=.local/node

if ! cmp --quiet "$pinned/package-lock.json" "$target/installed.json"; then
    command -v npm >/dev/null || { echo "npm is missing: install Node.js 20 or later." >&2; exit 1; }
    mkdir -p "$target"
    cp "$pinned/package.json" "$pinned/package-lock.json" "$target"
    npm ci --prefix "$target" --ignore-scripts --no-audit --no-fund --loglevel=error
    cp "$pinned/package-lock.json" "$target/installed.json"
fi
