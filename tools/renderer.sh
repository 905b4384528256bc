#!/usr/bin/env bash
# Downloads the files of Swagger UI for the reference page, compressed, into functions/reference/page.
# Needs npm. To update Swagger UI, change version and integrity, run this, and commit the files.
set -euo pipefail
cd "$(dirname "$0")/../functions/reference/page"

version=5.35.0
# From the registry: npm view swagger-ui-dist@VERSION dist.integrity
integrity=U06rpMtW9V3XPGOBeamTUSr0Z09jMX4IJuANpE/EZbAhw0G8CgwrzU4YmXkn/h0wCDNsXdGarTNNHC3sU8yVUQ==

scratch=$(mktemp -d)
trap 'rm -r "$scratch"' EXIT
npm pack --silent --pack-destination "$scratch" "swagger-ui-dist@$version" >/dev/null
archive=$scratch/swagger-ui-dist-$version.tgz
if [ "$(openssl dgst -sha512 -binary "$archive" | base64 -w0)" != "$integrity" ]; then
    echo "The checksum of $archive is not the expected one." >&2
    exit 1
fi
tar -xzf "$archive" -C "$scratch"
for file in swagger-ui-bundle.js swagger-ui.css; do
    # Remove the reference to the source map, which is not shipped.
    sed '/^\(\/\/\|\/\*\)# sourceMappingURL=/d' "$scratch/package/$file" | gzip -9n >"$file.gz"
done
cp "$scratch/package/LICENSE" "$scratch/package/NOTICE" \
    "$scratch/package/swagger-ui-bundle.js.LICENSE.txt" .
