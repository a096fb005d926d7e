#!/bin/sh
# Installs boswell on Linux and macOS.
#
#   sh install.sh                           into ~/.local
#   PREFIX=/usr/local sh install.sh         elsewhere
#   sh install.sh --uninstall               removes what it installed, and nothing else
#   sh install.sh --without-signature       verifies the checksum alone
#
# The files of the release are taken from the folder of this script. Those that are not there are
# downloaded if the release has an address. Checksum and signature are verified in a temporary
# folder before anything is installed.
set -eu

version='@VERSION@'
# Empty: nothing is downloaded.
release='@RELEASE@'
# The public key of minisign. Empty: the release is not signed.
key='@KEY@'

fail() {
    code=$1
    shift
    printf 'error: %s\n' "$1" >&2
    [ $# -lt 2 ] || printf 'hint: %s\n' "$2" >&2
    exit "$code"
}

target() {
    case "$(uname -s) $(uname -m)" in
        @CASES@
    esac
}

# Copies or downloads a file of the release into the temporary folder.
fetch() {
    if [ -n "$here" ] && [ -f "$here/$1" ]; then
        cp "$here/$1" "$scratch/$1"
    elif [ -z "$release" ]; then
        fail 2 "there is no $1 next to this script" "download it into ${here:-a folder with this script}"
    elif command -v curl >/dev/null 2>&1; then
        curl --fail --silent --show-error --location --output "$scratch/$1" "$release/$1" ||
            fail 3 "cannot download $release/$1" "try again; nothing was installed"
    elif command -v wget >/dev/null 2>&1; then
        wget --quiet --output-document="$scratch/$1" "$release/$1" ||
            fail 3 "cannot download $release/$1" "try again; nothing was installed"
    else
        fail 2 "neither curl nor wget is installed" "install one of them"
    fi
}

# Verifies what minisign signs (the BLAKE2b hash of the file) without minisign.
openssl_verifies() {
    sed -n 2p "$scratch/SHA256SUMS.minisig" | openssl base64 -d -A >"$scratch/signature"
    [ "$(head -c 2 "$scratch/signature")" = ED ] || return 1
    tail -c 64 "$scratch/signature" >"$scratch/signature.raw"
    # The header of a DER file with an Ed25519 key, then the key.
    printf '\060\052\060\005\006\003\053\145\160\003\041\000' >"$scratch/key.der"
    printf '%s\n' "$key" | openssl base64 -d -A | tail -c 32 >>"$scratch/key.der"
    openssl dgst -blake2b512 -binary "$scratch/SHA256SUMS" >"$scratch/hash" &&
        openssl pkeyutl -verify -pubin -keyform DER -inkey "$scratch/key.der" -rawin \
            -in "$scratch/hash" -sigfile "$scratch/signature.raw" >/dev/null 2>&1
}

verify_signature() {
    if [ -z "$key" ]; then
        echo "note: this release is not signed; its checksum is verified" >&2
        return
    fi
    if [ "$signature" = no ]; then
        echo "note: the signature is not verified" >&2
        return
    fi
    fetch SHA256SUMS.minisig
    if command -v minisign >/dev/null 2>&1; then
        minisign -Vqm "$scratch/SHA256SUMS" -P "$key" >/dev/null 2>&1 && return
    else
        case "$(openssl version 2>/dev/null || true)" in
            "OpenSSL "[3-9]*) openssl_verifies && return ;;
            *) fail 2 "neither minisign nor OpenSSL 3 is there to verify the signature" \
                "install minisign, or verify the checksum alone with --without-signature" ;;
        esac
    fi
    fail 4 "the signature of SHA256SUMS is not valid" "download it again; nothing was installed"
}

verify_checksum() {
    promised=
    while read -r sum file; do
        if [ "${file#\*}" = "$1" ]; then promised=$sum; fi
    done <"$scratch/SHA256SUMS"
    if command -v sha256sum >/dev/null 2>&1; then
        found=$(sha256sum <"$scratch/$1")
    elif command -v shasum >/dev/null 2>&1; then
        found=$(shasum -a 256 <"$scratch/$1")
    else
        fail 2 "neither sha256sum nor shasum is there to verify the archive" "install one of them"
    fi
    [ -n "$promised" ] && [ "${found%% *}" = "$promised" ] ||
        fail 4 "$1 does not have the checksum of SHA256SUMS" "download both again; nothing was installed"
}

uninstall() {
    rm -f "$prefix/bin/boswell" "$man/boswell.1" "$man"/boswell-*.1 "$bash/boswell" \
        "$zsh/_boswell" "$fish/boswell.fish"
    echo "boswell was removed from $prefix; its own folder with sessions and copies stays"
}

install_files() {
    mkdir -p "$prefix/bin" "$man" "$bash" "$zsh" "$fish" ||
        fail 2 "cannot write below $prefix" "choose another folder with PREFIX=DIR"
    # Renamed into place, so that a running boswell keeps the file it started from.
    cp "$1/boswell" "$prefix/bin/.boswell.new"
    chmod 755 "$prefix/bin/.boswell.new"
    mv -f "$prefix/bin/.boswell.new" "$prefix/bin/boswell"
    cp "$1"/man/man1/*.1 "$man/"
    cp "$1/completions/boswell.bash" "$bash/boswell"
    cp "$1/completions/_boswell" "$zsh/_boswell"
    cp "$1/completions/boswell.fish" "$fish/boswell.fish"
}

next_steps() {
    case ":${PATH:-}:" in
        *":$prefix/bin:"*) start=boswell ;;
        *)
            start=$prefix/bin/boswell
            echo "add $prefix/bin to PATH to start it by its name"
            ;;
    esac
    echo "next: \`$start demo ~/boswell-demo\` shows it on sample sessions, \`$start\` lists yours"
    echo "to remove it: run this script with PREFIX=$prefix and --uninstall"
}

main() {
    # Through a pipe there is no folder of the script, and the current one is not to be trusted.
    here=
    if [ -f "$0" ] && [ "${0##*/}" = install.sh ]; then
        here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
    fi
    if [ -n "${PREFIX:-}" ]; then
        prefix=$PREFIX
    elif [ -n "${HOME:-}" ]; then
        prefix=$HOME/.local
    else
        fail 2 "there is no folder to install to: neither PREFIX nor HOME is set" \
            "name one: PREFIX=/usr/local sh install.sh"
    fi
    man=$prefix/share/man/man1
    bash=$prefix/share/bash-completion/completions
    zsh=$prefix/share/zsh/site-functions
    fish=$prefix/share/fish/vendor_completions.d

    signature=yes
    for argument; do
        case $argument in
            --without-signature) signature=no ;;
            --uninstall)
                uninstall
                exit 0
                ;;
            *) fail 2 "\`$argument\` is not an option" "sh install.sh, or sh install.sh --uninstall" ;;
        esac
    done

    target=$(target)
    [ -n "$target" ] ||
        fail 2 "there is no release for $(uname -s) on $(uname -m)" "build it: cargo install boswell"
    archive=boswell-$version-$target.tar.gz
    scratch=$(mktemp -d)
    trap 'rm -rf "$scratch"' EXIT
    fetch SHA256SUMS
    verify_signature
    fetch "$archive"
    verify_checksum "$archive"
    gzip -dc "$scratch/$archive" | tar -xf - -C "$scratch"
    inside=$scratch/${archive%.tar.gz}
    # A program that does not run here must not replace one that does.
    said=$("$inside/boswell" --version) ||
        fail 2 "the program of $archive does not run on this machine" "build it: cargo install boswell"
    install_files "$inside"
    echo "$said is in $prefix/bin"
    next_steps
}

# The last line: a script that was cut off on its way does nothing.
main "$@"
