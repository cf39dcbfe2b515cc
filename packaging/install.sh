#!/bin/sh
# Installs Pillion @VERSION@ into ~/.local/bin. It needs no rights, asks nothing, and installs nothing that it cannot
# verify. Run it again to update; `rm ~/.local/bin/pillion` uninstalls it.
#
#   PILLION_BASE_URL     where the files of the release are
#   PILLION_INSTALL_DIR  where the program goes, instead of ~/.local/bin
set -eu

VERSION='@VERSION@'
BASE_URL="${PILLION_BASE_URL:-@ADDRESS@/releases/download/v$VERSION}"

# In a function, so that a script that arrives in part does nothing.
main() {
  target=$(target)
  archive="pillion-$VERSION-$target.tar.gz"
  check_address
  folder="${PILLION_INSTALL_DIR:-${HOME:?HOME is not set}/.local/bin}"
  if ! mkdir -p "$folder" 2>/dev/null || ! [ -w "$folder" ]; then
    fail "cannot write to $folder" "Set PILLION_INSTALL_DIR to a folder of yours."
  fi

  scratch=$(mktemp -d)
  new="$folder/.pillion-$$"
  trap 'rm -rf "$scratch" "$new"' EXIT
  trap 'exit 1' HUP INT TERM

  download SHA256SUMS
  expected=$(awk -v name="$archive" '$2 == name || $2 == "*" name { print $1 }' "$scratch/SHA256SUMS")
  case $expected in
  '' | *[!0-9a-f]*)
    fail "SHA256SUMS of this release has no checksum for $archive" "It may have no build for this platform."
    ;;
  esac
  download "$archive"
  actual=$(checksum "$scratch/$archive")
  [ "$actual" = "$expected" ] ||
    fail "the checksum of $archive is wrong: it is $actual, and should be $expected" \
      "The download may be incomplete: try again. Nothing was installed."

  tar -xzf "$scratch/$archive" -C "$scratch"
  cp "$scratch/pillion-$VERSION-$target/pillion" "$new"
  chmod 755 "$new"
  started=$("$new" --version) || fail "pillion does not start on this machine" "Nothing was installed."
  [ "$started" = "pillion $VERSION" ] || fail "the release is of another version: $started" "Nothing was installed."
  mv -f "$new" "$folder/pillion"

  printf '%s is installed in %s\n' "$started" "$folder"
  case ":$PATH:" in
  *":$folder:"*) ;;
  *) printf 'Add it to your PATH:  export PATH="%s:%s"\n' "$folder" "\$PATH" ;;
  esac
  printf 'Next: pillion install\n'
}

target() {
  system=$(uname -s) processor=$(uname -m)
  case $processor in
  x86_64 | amd64) processor=x86_64 ;;
  aarch64 | arm64) processor=aarch64 ;;
  *) unsupported ;;
  esac
  case $system in
  Linux) echo "$processor-unknown-linux-musl" ;;
  Darwin) echo "$processor-apple-darwin" ;;
  *) unsupported ;;
  esac
}

unsupported() {
  fail "there is no build for $system on $processor" "Build it from its sources, with Rust: docs/install.md says how."
}

# A checksum from where the file is from says nothing if somebody on the way can change both.
check_address() {
  case $BASE_URL in
  https://* | file:///* | http://127.0.0.1[:/]* | http://localhost[:/]*) ;;
  # No release has filled it in.
  @*) fail "nothing has been released yet" "Set PILLION_BASE_URL to where the files are: file://\$PWD is this folder." ;;
  *) fail "$BASE_URL is not an https address" "Set PILLION_BASE_URL to where the files of the release are." ;;
  esac
}

download() {
  case $BASE_URL in
  file://*)
    cp "${BASE_URL#file://}/$1" "$scratch/$1" || cannot_download "$1"
    return
    ;;
  esac
  if command -v curl >/dev/null 2>&1; then
    curl -fsSL --retry 2 -o "$scratch/$1" "$BASE_URL/$1" || cannot_download "$1"
  elif command -v wget >/dev/null 2>&1; then
    wget -q -O "$scratch/$1" "$BASE_URL/$1" || cannot_download "$1"
  else
    fail "neither curl nor wget is installed" "Install one of them."
  fi
}

cannot_download() {
  fail "cannot download $BASE_URL/$1" "Nothing was installed."
}

checksum() {
  if command -v sha256sum >/dev/null 2>&1; then
    sha256sum <"$1" | cut -d ' ' -f 1
  elif command -v shasum >/dev/null 2>&1; then
    shasum -a 256 <"$1" | cut -d ' ' -f 1
  else
    fail "neither sha256sum nor shasum is installed" "The download cannot be verified without one of them."
  fi
}

fail() {
  printf 'error: %s\nhint: %s\n' "$1" "$2" >&2
  exit 1
}

main
