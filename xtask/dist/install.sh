#!/bin/sh
# Installs boswell from a release archive that lies beside this script.
#
#   sh install.sh                 into ~/.local
#   PREFIX=/usr/local sh install.sh
#
# It checks the archive against SHA256SUMS, copies files, and touches nothing else. It downloads nothing.
set -eu

here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
prefix=${PREFIX:-${HOME:?"set HOME or PREFIX"}/.local}
archive=$(ls "$here"/boswell-*-"$(uname -m)"-*.tar.gz 2>/dev/null | head -n 1)
if [ -z "$archive" ]; then
    echo "error: there is no archive for $(uname -m) beside this script" >&2
    exit 2
fi
(cd "$here" && sha256sum --check --ignore-missing --status SHA256SUMS) || {
    echo "error: $archive is not what SHA256SUMS says; fetch both again" >&2
    exit 4
}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
tar -xzf "$archive" -C "$scratch" --strip-components 1
mkdir -p "$prefix/bin" "$prefix/share/man/man1" "$prefix/share/bash-completion/completions" \
    "$prefix/share/zsh/site-functions" "$prefix/share/fish/vendor_completions.d"
# Renamed into place, so that a running boswell keeps the file it started from.
cp "$scratch/boswell" "$prefix/bin/.boswell.new"
chmod 755 "$prefix/bin/.boswell.new"
mv "$prefix/bin/.boswell.new" "$prefix/bin/boswell"
cp "$scratch"/man/man1/*.1 "$prefix/share/man/man1/"
cp "$scratch/completions/boswell.bash" "$prefix/share/bash-completion/completions/boswell"
cp "$scratch/completions/_boswell" "$prefix/share/zsh/site-functions/_boswell"
cp "$scratch/completions/boswell.fish" "$prefix/share/fish/vendor_completions.d/boswell.fish"
"$prefix/bin/boswell" --version
case ":${PATH:-}:" in
    *":$prefix/bin:"*) ;;
    *) echo "hint: add $prefix/bin to PATH" ;;
esac
