#!/bin/sh
# Installs overspill from a directory or an address, checked against SHA256SUMS there, and removes what it installed.
set -eu

usage="Usage: install.sh [--prefix DIR] [FROM]
       install.sh [--prefix DIR] --uninstall

Installs the program, its man pages, completions and licences below DIR (default: ~/.local).
FROM is a directory or an address with SHA256SUMS and the tarball for this machine (default: the latest release)."

# Filled in by build.sh --finish.
from=@RELEASES@/latest/download

say() {
  echo "install.sh: $*" >&2
}

fail() {
  say "$*"
  exit 1
}

prefix='' uninstall=''
while [ $# -gt 0 ]; do
  case $1 in
    --prefix) [ $# -gt 1 ] || fail "--prefix needs a directory" && prefix=$2 && shift ;;
    --uninstall) uninstall=yes ;;
    --help) echo "$usage" && exit ;;
    -*) fail "unknown option $1; --help lists them" ;;
    *) from=$1 ;;
  esac
  shift
done
[ -n "$prefix" ] || prefix=${HOME:?}/.local
case $prefix in
  /*) ;;
  *) prefix=$PWD/$prefix ;;
esac
# Holds the paths below the prefix that were installed, a line each; those of directories end with a slash.
record=/share/doc/overspill/installed
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Removes the listed files, and the listed directories that are empty then.
remove_paths() {
  grep -v '/$' "$1" | while read -r path; do rm -f "$prefix$path"; done
  grep '/$' "$1" | LC_ALL=C sort -r | while read -r path; do rmdir "$prefix$path" 2>/dev/null || :; done
}

# Removes what was installed earlier, which the record says.
remove_installed() {
  cp "$prefix$record" "$work/installed"
  remove_paths "$work/installed"
}

# Copies a file of FROM into the working directory.
fetch() {
  case $from in
    @*) fail "the repository's address is unset: set \`repository\` in Cargo.toml, or name a directory with packages" ;;
    *://*)
      if command -v curl >/dev/null; then get='curl -fsSL -o'; else get='wget -q -O'; fi
      $get "$work/$1" "$from/$1"
      ;;
    *) cp "$from/$1" "$work/$1" ;;
  esac || fail "cannot get $1 from $from"
}

# Unpacks the tarball for this machine, if it is what SHA256SUMS says.
unpack() {
  case $(uname -s) in
    Linux) system='unknown-linux-(gnu|musl)' ;;
    Darwin) system=apple-darwin ;;
    *) fail "there are no packages for $(uname -s)" ;;
  esac
  processor=$(uname -m | sed 's/^arm64$/aarch64/; s/^amd64$/x86_64/')
  fetch SHA256SUMS
  grep -E "^[0-9a-f]{64}  overspill-[^/]*-$processor-$system\.tar\.gz\$" "$work/SHA256SUMS" >"$work/sum" || :
  [ "$(wc -l <"$work/sum")" -eq 1 ] || fail "$from has not exactly one tarball for $processor-$system"
  name=$(cut -d ' ' -f 3 "$work/sum")
  fetch "$name"
  if command -v sha256sum >/dev/null; then sum=sha256sum; else sum='shasum -a 256'; fi
  (cd "$work" && $sum -c sum >/dev/null 2>&1) || fail "$name is not what SHA256SUMS says: nothing was installed"
  tar -xzf "$work/$name" -C "$work"
  tree=$work/${name%.tar.gz}
}

# Copies the paths that standard input lists, and prints what it adds to the prefix.
copy_paths() {
  while read -r path; do
    case $path in
      */) [ -d "$prefix$path" ] || { mkdir -p "$prefix$path" && echo "$path"; } ;;
      *) echo "$path" && cp "$tree$path" "$prefix$path" ;;
    esac || return 1
  done
}

install_tree() {
  : >"$tree$record"
  (cd "$tree" && find . -type d | LC_ALL=C sort | sed 's|$|/|' && find . -type f) | sed 's|^\.||' >"$work/paths"
  grep -v '/$' "$work/paths" | while read -r path; do
    [ ! -e "$prefix$path" ] || grep -qsxF -- "$path" "$prefix$record" ||
      fail "$prefix$path is not from this script: remove it, or choose another --prefix"
  done
  [ ! -e "$prefix$record" ] || remove_installed
  if ! copy_paths <"$work/paths" >"$work/installed" || ! cp "$work/installed" "$prefix$record"; then
    remove_paths "$work/installed"
    fail "cannot write below $prefix: nothing is installed"
  fi
}

if [ -n "$uninstall" ]; then
  [ -e "$prefix$record" ] || fail "nothing that this script installed is below $prefix"
  remove_installed
  say "removed overspill from $prefix"
  exit
fi
unpack
install_tree
say "installed $("$prefix/bin/overspill" --version) below $prefix; --uninstall removes it"
case :$PATH: in
  *":$prefix/bin:"*) ;;
  *) say "add $prefix/bin to PATH" ;;
esac
