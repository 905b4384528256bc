#!/usr/bin/env bash
# Prints the locked runtime dependencies: the requirements file of the dependencies layer.
set -euo pipefail
cd "$(dirname "$0")/.."
echo "# Exported from uv.lock by 'make lock'."
.local/bootstrap/bin/uv export --quiet --frozen --no-dev --no-emit-project --no-hashes \
    --no-annotate --no-header
