#!/usr/bin/env bash
# Checks the web console: its generated files are current, its types fit, and its tests pass. Needs npm.
set -euo pipefail
cd "$(dirname "$0")/../.."

python -m tools.console --check
.local/node/node_modules/.bin/tsc -p console
node --test --test-reporter=dot tests/console/
