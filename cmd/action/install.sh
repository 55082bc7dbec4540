#!/usr/bin/env bash
# Downloads a release of meshmatch into a directory, if its sum is the expected one:
#
#	VERSION=v0.1.0 SHA256=... bash install.sh DIR
#
#	SHA256  the sum of the archive, from SHA256SUMS of the release
#	URL     of the archive (default: that of the release on GitHub for this platform)
set -euo pipefail
dir=${1:?"usage: VERSION=v0.1.0 SHA256=... install.sh DIR"}
: "${VERSION:?set VERSION, such as v0.1.0}" "${SHA256:?set SHA256, the sum of the archive in SHA256SUMS of the release}"
case $(uname -m) in
x86_64) arch=amd64 ;;
aarch64 | arm64) arch=arm64 ;;
*) echo "install.sh: there is no archive for $(uname -m)" >&2; exit 2 ;;
esac
platform=$(uname -s | tr '[:upper:]' '[:lower:]')_$arch
url=${URL:-https://github.com/meshmatch/meshmatch/releases/download/$VERSION/meshmatch_${VERSION}_$platform.tar.gz}

mkdir -p "$dir"
if [ ! -f "$dir/archive.tar.gz" ]; then
	curl --fail --silent --show-error --location --retry 3 --output "$dir/download" "$url"
	mv "$dir/download" "$dir/archive.tar.gz"
fi
if ! echo "$SHA256  $dir/archive.tar.gz" | sha256sum --quiet --check; then
	rm -f "$dir/archive.tar.gz" # from a cache, or of another version
	echo "install.sh: $url does not have the sum $SHA256" >&2
	exit 2
fi
tar -xzf "$dir/archive.tar.gz" -C "$dir"
