#!/usr/bin/env bash
# Prints the requirements file of a layer ('dependencies', 'cryptography', 'imports' or 'labels') or of uv itself from uv.lock,
# with the hashes of all files.
set -euo pipefail
cd "$(dirname "$0")/.."
case ${1:-} in
dependencies) which=--no-default-groups ;;
cryptography | imports | labels | uv) which=--only-group=$1 ;;
*)
    echo "usage: $0 dependencies|cryptography|imports|labels|uv" >&2
    exit 2
    ;;
esac
echo "# Exported from uv.lock by 'make lock'."
.local/bootstrap/bin/uv export --quiet --frozen "$which" --no-emit-project \
    --no-annotate --no-header
