#!/bin/sh
# Installs boswell from a release archive that lies beside this script.
#
#   sh install.sh                           into ~/.local
#   PREFIX=/usr/local sh install.sh         elsewhere
#   sh install.sh --uninstall               takes away what it installed, and nothing else
#
# It checks the archive against SHA256SUMS, copies files, and touches nothing else. It downloads nothing.
set -eu

fail() {
    code=$1
    shift
    printf 'error: %s\n' "$1" >&2
    [ $# -lt 2 ] || printf 'hint: %s\n' "$2" >&2
    exit "$code"
}

here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
if [ -n "${PREFIX:-}" ]; then
    prefix=$PREFIX
elif [ -n "${HOME:-}" ]; then
    prefix=$HOME/.local
else
    fail 2 "there is no place to install to: neither PREFIX nor HOME is set" "say where: PREFIX=/usr/local sh install.sh"
fi
man=$prefix/share/man/man1
bash=$prefix/share/bash-completion/completions
zsh=$prefix/share/zsh/site-functions
fish=$prefix/share/fish/vendor_completions.d

case "${1:-}" in
    "") ;;
    --uninstall)
        rm -f "$prefix/bin/boswell" "$man/boswell.1" "$man"/boswell-*.1 "$bash/boswell" "$zsh/_boswell" "$fish/boswell.fish"
        echo "boswell is gone from $prefix; its own folder with sessions and copies stays where it is"
        exit 0
        ;;
    *) fail 2 "\`$1\` is not understood" "sh install.sh, or sh install.sh --uninstall" ;;
esac

machine=$(uname -m)
archive=
for file in "$here"/boswell-*-"$machine"-*.tar.gz; do
    if [ -f "$file" ]; then archive=$file; fi
done
[ -n "$archive" ] || fail 2 "there is no archive for $machine beside this script" "fetch it into $here, with SHA256SUMS"

# What was promised of it, and what it is.
name=${archive##*/}
promised=
[ -f "$here/SHA256SUMS" ] || fail 2 "there is no SHA256SUMS beside this script" "fetch it into $here"
while read -r sum file; do
    if [ "${file#\*}" = "$name" ]; then promised=$sum; fi
done <"$here/SHA256SUMS"
if command -v sha256sum >/dev/null 2>&1; then
    found=$(sha256sum <"$archive")
elif command -v shasum >/dev/null 2>&1; then
    found=$(shasum -a 256 <"$archive")
else
    fail 2 "neither sha256sum nor shasum is there to check the archive with" "install one of them"
fi
[ -n "$promised" ] && [ "${found%% *}" = "$promised" ] ||
    fail 4 "$archive is not what SHA256SUMS says" "fetch both again; nothing was installed"

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
gzip -dc "$archive" | tar -xf - -C "$scratch"
inside=$scratch/${name%.tar.gz}
mkdir -p "$prefix/bin" "$man" "$bash" "$zsh" "$fish" || fail 2 "cannot write below $prefix" "choose another place: PREFIX=DIR sh $0"
# Renamed into place, so that a running boswell keeps the file it started from.
cp "$inside/boswell" "$prefix/bin/.boswell.new"
chmod 755 "$prefix/bin/.boswell.new"
mv -f "$prefix/bin/.boswell.new" "$prefix/bin/boswell"
cp "$inside"/man/man1/*.1 "$man/"
cp "$inside/completions/boswell.bash" "$bash/boswell"
cp "$inside/completions/_boswell" "$zsh/_boswell"
cp "$inside/completions/boswell.fish" "$fish/boswell.fish"

echo "$("$prefix/bin/boswell" --version) is in $prefix/bin"
case ":${PATH:-}:" in
    *":$prefix/bin:"*) start=boswell ;;
    *)
        start=$prefix/bin/boswell
        echo "add $prefix/bin to PATH to start it by its name"
        ;;
esac
echo "next: \`$start demo ~/boswell-demo\` shows it on made-up sessions, \`$start\` lists yours"
echo "to take it away again: PREFIX=$prefix sh $0 --uninstall"
