#!/usr/bin/env bash
# Lints docs/reference/openapi.json with Redocly and Spectral; every warning fails. Installs both into
# .local/node, pinned by tools/node/package-lock.json. Needs npm.
set -euo pipefail
cd "$(dirname "$0")/../.."
export REDOCLY_TELEMETRY=off REDOCLY_SUPPRESS_UPDATE_NOTICE=true

tools/node/install.sh
bin=.local/node/node_modules/.bin
"$bin/redocly" lint docs/reference/openapi.json --config tools/openapi/lint/redocly.yaml
"$bin/spectral" lint docs/reference/openapi.json --ruleset tools/openapi/lint/spectral.yaml --fail-severity hint
