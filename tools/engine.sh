#!/usr/bin/env bash
# Run the integration tests against DynamoDB Local (`make engine`); see CONTRIBUTING.md.
#
# The archive is fetched from the npm registry once, checked by its hashes and kept in .local.
# The engine listens on all interfaces: it runs with the tests in a network namespace of its own,
# from which nothing reaches it and which has no other network. That needs `unshare` of util-linux,
# a kernel that lets users create namespaces, `ip`, and Java 17 or later.
set -euo pipefail
cd "$(dirname "$0")/.."

package=amplify-dynamodb-simulator-2.9.30.tgz
package_sha512=xTeeRLvzEfqyd5lh3bH4c0kHvSHHmmhD5ZDsHFKAQ5g2Zl6JqlFdutaQhCLHzxEp6Ry1o7TB6niIoXuQAnSewQ==
jar_sha256=454305e9bc3e6ebcca5b62569869e31563b8d7e346474e94557b2600702146c7
folder=.local/engine
emulator=$folder/package/emulator
port=8000

fail() { echo "engine: $1" >&2; exit 1; }

fetch() {
	mkdir -p "$folder"
	curl -fsSL -o "$folder/$package" \
		"https://registry.npmjs.org/amplify-dynamodb-simulator/-/$package"
	[ "$(openssl dgst -sha512 -binary "$folder/$package" | base64 | tr -d '\n')" = "$package_sha512" ] ||
		{ rm "$folder/$package"; fail "$package is not the archive that was expected"; }
	tar -xzf "$folder/$package" -C "$folder" package/emulator
	rm "$folder/$package"
}

# Inside the namespace: start the engine, run pytest, stop the engine.
run() {
	ip link set lo up
	java -Djava.library.path="$emulator/DynamoDBLocal_lib" -jar "$emulator/DynamoDBLocal.jar" \
		-inMemory -disableTelemetry -port "$port" >"$folder/engine.log" 2>&1 &
	engine=$!
	trap 'kill "$engine" 2>/dev/null || true' EXIT
	for _ in $(seq 100); do
		(exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null && break
		kill -0 "$engine" 2>/dev/null || fail "the engine ended, see $folder/engine.log"
		sleep 0.2
	done
	# test_fast_moto.py compares moto with itself.
	DYNAMODB_ENGINE=127.0.0.1:$port pytest --ignore tests/integration/test_fast_moto.py "$@"
}

if [ "${1-}" = --inside ]; then
	shift
	run "$@"
	exit
fi
for tool in java unshare ip curl openssl; do
	command -v "$tool" >/dev/null || fail "$tool is missing"
done
[ -f "$emulator/DynamoDBLocal.jar" ] || fetch
echo "$jar_sha256  $emulator/DynamoDBLocal.jar" | sha256sum --check --quiet ||
	fail "DynamoDBLocal.jar is not the one that was expected; remove $folder"
unshare --user --net --map-root-user true || fail "this kernel lets no user create a namespace"
[ $# -gt 0 ] || set -- tests/integration
exec unshare --user --net --map-root-user "$0" --inside "$@"
