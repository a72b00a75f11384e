#!/bin/sh
# Installs overspill from a directory or an address, checked against SHA256SUMS there, and removes what it installed.
set -eu

usage="Usage: install.sh [--prefix DIR] [FROM]
       install.sh [--prefix DIR] --uninstall

Installs the program, its man pages, completions and licences below DIR (default: ~/.local).
FROM is a directory or an https address with SHA256SUMS and the tarball for this machine (default: the latest release).
Before --uninstall, run \`overspill setup AGENT --remove\` for each agent that you set up."

# Filled in by build.sh --finish.
from=@RELEASES@/latest/download
# Holds the paths below the prefix that were installed, a line each; those of directories end with a slash.
record=/share/doc/overspill/installed
# Ends the name of a file that is not copied to its end yet.
partial=.overspill-new

say() {
  echo "install.sh: $*" >&2
}

fail() {
  say "$*"
  exit 1
}

has() {
  command -v "$1" >/dev/null
}

remove_files() {
  grep -v '/$' "$1" | while read -r path; do rm -f "$prefix$path" "$prefix$path$partial"; done
}

# Removes the listed directories that are empty.
remove_directories() {
  grep '/$' "$1" | LC_ALL=C sort -r | while read -r path; do rmdir "$prefix$path" 2>/dev/null || :; done
}

# Copies a file to a path below the prefix, wholly or not at all.
put() {
  { mkdir -p "$prefix${2%/*}" && cp "$1" "$prefix$2$partial" && mv -f "$prefix$2$partial" "$prefix$2"; } ||
    fail "cannot write $prefix$2: make that possible, then install again"
}

download() {
  if has curl; then
    curl --proto '=https' --tlsv1.2 -fsSL -o "$work/$1" "$from/$1"
  elif has wget; then
    wget -q -O "$work/$1" "$from/$1"
  else
    fail "to download, curl or wget is needed: install one"
  fi
}

# Copies a file of FROM into the working directory.
fetch() {
  case $from in
    @*) fail "the repository's address is unset: set \`repository\` in Cargo.toml, or name a directory with packages" ;;
    https://*) download "$1" ;;
    *://*) fail "$from is not an https address" ;;
    *) cp "$from/$1" "$work/$1" ;;
  esac || fail "cannot get $1 from $from"
}

# Finds the one tarball for this machine among those of SHA256SUMS, and keeps its line.
choose_tarball() {
  case $(uname -s) in
    Linux) systems='unknown-linux-musl unknown-linux-gnu' ;;
    Darwin) systems=apple-darwin ;;
    *) fail "there are no packages for $(uname -s)" ;;
  esac
  processor=$(uname -m | sed 's/^arm64$/aarch64/; s/^amd64$/x86_64/')
  for system in $systems; do
    ! grep "^[0-9a-f]*  overspill-[^/]*-$processor-$system\.tar\.gz\$" "$work/SHA256SUMS" >"$work/sum" || break
  done
  case $(grep -c . "$work/sum") in
    0) fail "$from has no package for $(uname -s) on $processor" ;;
    1) name=$(cut -d ' ' -f 3 "$work/sum") ;;
    *) fail "$from has packages of several versions: leave only one there" ;;
  esac
}

# Unpacks the tarball for this machine, if it is what SHA256SUMS says and holds a program that runs.
unpack() {
  if has sha256sum; then
    sum=sha256sum
  elif has shasum; then
    sum='shasum -a 256'
  else
    fail "to check the package, sha256sum or shasum is needed: install one"
  fi
  fetch SHA256SUMS
  choose_tarball
  fetch "$name"
  (cd "$work" && $sum -c sum >/dev/null 2>&1) || fail "$name is not what SHA256SUMS says: nothing was installed"
  tar -xzf "$work/$name" -C "$work"
  tree=$work/${name%.tar.gz}
  version=$("$tree/bin/overspill" --version) || fail "the program does not run here: nothing was installed"
}

# Writes the record before the first copy, so that an interrupted installation can be repeated or removed.
install_tree() {
  (cd "$tree" && find . -type f) | sed 's|^\.||' >"$work/files"
  (cd "$tree" && find . -type d) | sed 's|^\.||; s|$|/|' >"$work/directories"
  while read -r path; do
    [ ! -e "$prefix$path" ] || grep -qsxF -- "$path" "$prefix$record" ||
      fail "$prefix$path is not from this script: remove it, or choose another --prefix"
  done <"$work/files"
  {
    cat "$work/files"
    while read -r path; do [ -d "$prefix$path" ] || echo "$path"; done <"$work/directories"
    [ ! -e "$prefix$record" ] || cat "$prefix$record"
  } | sort -u >"$work/all"
  put "$work/all" "$record"
  while read -r path; do put "$tree$path" "$path"; done <"$work/files"
  cat "$work/files" "$work/directories" >"$work/new"
  grep -vxF -f "$work/new" "$work/all" >"$work/old" || :
  remove_files "$work/old"
  remove_directories "$work/old"
  grep -xF -f "$work/new" "$work/all" >"$work/installed"
  put "$work/installed" "$record"
}

# Fails if an agent would run a program that is gone.
check_agents() {
  home=${HOME-} real=$(cd "$prefix" && pwd -P)
  while read -r agent file; do
    ! grep -qsF -e "$prefix/bin/overspill" -e "$real/bin/overspill" "$file" ||
      fail "$file names this program: first run \`overspill setup $agent --remove\`; nothing was removed"
  done <<END
claude-code ${CLAUDE_CONFIG_DIR:-$home/.claude}/settings.json
codex ${CODEX_HOME:-$home/.codex}/config.toml
gemini-cli $home/.gemini/settings.json
opencode ${XDG_CONFIG_HOME:-$home/.config}/opencode/plugins/overspill.js
qwen-code $home/.qwen/settings.json
copilot-cli $home/.copilot/hooks/overspill.json
END
}

remove_installed() {
  [ -e "$prefix$record" ] || fail "nothing that this script installed is below $prefix"
  check_agents
  cp "$prefix$record" "$work/installed"
  remove_files "$work/installed"
  rm -f "$prefix$record" "$prefix$record$partial"
  remove_directories "$work/installed"
  say "removed overspill from $prefix; where a project or another user set an agent up, take overspill out of its settings"
}

# Is read to its end before anything runs, even if its download is cut.
main() {
  umask 022
  prefix='' uninstall='' at=''
  while [ $# -gt 0 ]; do
    case $1 in
      --prefix) [ -n "${2-}" ] || fail "--prefix needs a directory" && prefix=$2 && shift ;;
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
  prefix=${prefix%/}
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  trap 'exit 1' HUP INT TERM
  if [ -n "$uninstall" ]; then
    remove_installed
    exit
  fi
  unpack
  install_tree
  [ "$prefix" = "${HOME-}/.local" ] || at="--prefix $prefix "
  say "installed $version below $prefix: try \`overspill --demo\`; \`install.sh $at--uninstall\` removes it"
  case :$PATH: in
    *":$prefix/bin:"*) ;;
    *) say "to find it, add to PATH: export PATH=\"$prefix/bin:\$PATH\"" ;;
  esac
}

main "$@"
