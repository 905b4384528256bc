#!/usr/bin/env bash
# Prints the requirements file of a layer ('dependencies', 'cryptography' or 'imports') from uv.lock.
set -euo pipefail
cd "$(dirname "$0")/.."
case ${1:-} in
dependencies) which=--no-default-groups ;;
cryptography | imports) which=--only-group=$1 ;;
*)
    echo "usage: $0 dependencies|cryptography|imports" >&2
    exit 2
    ;;
esac
echo "# Exported from uv.lock by 'make lock'."
.local/bootstrap/bin/uv export --quiet --frozen "$which" --no-emit-project --no-hashes \
    --no-annotate --no-header
