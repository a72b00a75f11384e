#!/bin/sh
# Makes the packages of one target, and with --finish what a release has besides.
set -eu

usage="Usage: build.sh [--target TRIPLE] [--binary PATH] [--out DIR]
       build.sh --finish [--out DIR]

Makes a tarball, on Linux also a .deb, and SHA256SUMS of all packages in DIR (default: target/packages).

  --target TRIPLE  build for this target (default: this machine's; on Linux the one with musl, if installed)
  --binary PATH    package this program of that target instead of building one; one for Linux has to be linked statically
  --finish         for the packages in DIR, make install.sh, overspill.rb (Homebrew) and SHA256SUMS"

say() {
  echo "build.sh: $*" >&2
}

fail() {
  say "$*"
  exit 1
}

root=$(cd "$(dirname "$0")/../.." && pwd)
target='' binary='' finish='' out=$root/target/packages
while [ $# -gt 0 ]; do
  case $1=${2-} in
    --finish=*) finish=yes ;;
    --help=*) echo "$usage" && exit ;;
    --target=?*) target=$2 && shift ;;
    --binary=?*) binary=$2 && shift ;;
    --out=?*) out=$2 && shift ;;
    *) fail "unknown argument $1, or no value; --help lists them" ;;
  esac
  shift
done

# Prints the value of a key of [package] in Cargo.toml.
field() {
  sed -n "/^\[package\]/,/^\[[^p]/s/^$1 = \"\(.*\)\"/\1/p" "$root/Cargo.toml"
}
version=$(field version)
repository=$(field repository)

sha256() {
  if command -v sha256sum >/dev/null; then sha256sum "$@"; else shasum -a 256 "$@"; fi
}

write_sums() {
  (cd "$out" && for file in install.sh overspill*.deb overspill*.tar.gz; do [ ! -e "$file" ] || sha256 "$file"; done >SHA256SUMS)
}

# Prints where the formula finds the tarball of each target in the directory.
formula_urls() {
  for tarball in "$out/overspill-$version"-*.tar.gz; do
    name=${tarball##*/} system=linux processor=intel
    case $name in *-apple-*) system=macos ;; esac
    case $name in *-aarch64-*) processor=arm ;; esac
    cat <<END
  on_$system do
    on_$processor do
      url "$repository/releases/download/v$version/$name"
      sha256 "$(sha256 "$tarball" | cut -d ' ' -f 1)"
    end
  end
END
  done
}

# Makes the installer and the formula, which name the public address.
finish_release() {
  [ -n "$repository" ] || fail "the repository's address is unset: set \`repository\` in Cargo.toml"
  ls "$out/overspill-$version"-*.tar.gz >/dev/null 2>&1 || fail "no packages of $version in $out: make them first"
  sed "s|@RELEASES@|$repository/releases|" "$root/assets/packaging/install.sh" >"$out/install.sh"
  write_sums
  formula_urls >"$work/urls"
  sed -e "s|@REPOSITORY@|$repository|; s|@VERSION@|$version|; s|@DESCRIPTION@|$(field description)|" \
    -e "s|@LICENSE@|$(field license)|; /@URLS@/{r $work/urls" -e 'd;}' \
    "$root/assets/packaging/overspill.rb" >"$out/overspill.rb"
}

# Chooses a target whose programs need no library of the system that they run on.
choose_target() {
  target=$host
  case $host in
    *-linux-gnu)
      if [ -d "$sysroot/lib/rustlib/$musl" ] && command -v musl-gcc >/dev/null; then
        target=$musl
      else
        say "$musl or musl-gcc is not installed: linking glibc statically"
      fi
      ;;
  esac
}

# Checks for the licences that come with Rust and musl.
check_licences() {
  rust_licences=$sysroot/share/doc/rust/COPYRIGHT-library.html musl_licence=/usr/share/doc/musl-dev/copyright
  [ -e "$rust_licences" ] || fail "$rust_licences is missing: install Rust with rustup"
  case $target in
    *-musl) [ -e "$musl_licence" ] || fail "$musl_licence is missing: install Debian's package musl-dev" ;;
  esac
}

# Builds the same bytes in whatever directory, without its name. Inlines little: a sixth smaller, with as many instructions.
# Lower the bound of the size when you made it smaller.
build() {
  case $target in
    # The packed relocations need musl 1.2.4.
    *-musl) [ "$(rustc -V | cut -d . -f 2)" -ge 93 ] || fail "$target needs Rust 1.93 or later: update Rust" ;;
  esac
  flags="--remap-path-prefix=$root=overspill|--remap-path-prefix=${CARGO_HOME:-$HOME/.cargo}=cargo|-Cllvm-args=-inline-threshold=30"
  case $target in
    *-linux-*) flags="$flags|-Ctarget-feature=+crt-static|-Clink-arg=-Wl,-z,pack-relative-relocs" ;;
  esac
  CARGO_ENCODED_RUSTFLAGS=$(echo "$flags" | tr '|' '\037') \
    cargo build --manifest-path "$root/Cargo.toml" --config "$root/.cargo/config.toml" --locked --profile dist --target "$target"
  binary=${CARGO_TARGET_DIR:-$root/target}/$target/dist/overspill
  # glibc is a megabyte larger than musl.
  case $target in *-gnu) most=12900000 ;; *) most=11900000 ;; esac
  size=$(wc -c <"$binary")
  [ "$size" -le $most ] || fail "the program has $size bytes of at most $most"
  case $target in
    "$host" | "$musl") "$binary" --version >/dev/null || fail "the program that was built does not run" ;;
  esac
}

# Names the processor as Debian does, and checks that the program is for it.
check_processor() {
  case $target in
    x86_64-*) architecture=amd64 number=3e00 ;;
    aarch64-*) architecture=arm64 number=b700 ;;
    *) fail "$target has no name among Debian's architectures" ;;
  esac
  # e_machine of ELF.
  [ "$(od -An -tx1 -j18 -N2 "$binary" | tr -d ' ')" = $number ] || fail "$binary is not a program for $target"
}

# Lays out in a directory what is installed below a prefix.
lay_out() {
  doc=$1/share/doc/overspill man=$1/share/man/man1 assets=$root/assets
  bash=$1/share/bash-completion/completions zsh=$1/share/zsh/site-functions fish=$1/share/fish/vendor_completions.d
  install -d "$1/bin" "$doc" "$man" "$bash" "$zsh" "$fish"
  install -s -m 755 "$binary" "$1/bin/overspill"
  install -m 644 "$assets"/man/*.1 "$man"
  install -m 644 "$assets/completions/overspill.bash" "$bash/overspill"
  install -m 644 "$assets/completions/_overspill" "$zsh"
  install -m 644 "$assets/completions/overspill.fish" "$fish"
  install -m 644 "$root/README.md" "$root/LICENSE" "$assets/THIRD-PARTY" "$doc"
  install -m 644 "$rust_licences" "$doc/RUST-LIBRARY.html"
  case $target in
    *-musl) install -m 644 "$musl_licence" "$doc/LIBC" ;;
  esac
}

make_tarball() {
  name=overspill-$version-$target
  lay_out "$work/$name"
  find "$work/$name" -exec touch -t "$stamp" {} +
  if tar --version | grep -q GNU; then owner='--owner=0 --group=0'; else owner='--uid=0 --gid=0'; fi
  (cd "$work" && find "$name" >found && LC_ALL=C sort found >listed)
  # shellcheck disable=SC2086
  (cd "$work" && COPYFILE_DISABLE=1 tar --format=ustar $owner --numeric-owner --no-recursion -cf "$name.tar" -T listed)
  gzip -n "$work/$name.tar"
  rm -f "$out"/overspill-*-"$target.tar.gz"
  mv "$work/$name.tar.gz" "$out"
}

make_deb() {
  tree=$work/deb
  mkdir -p "$tree/DEBIAN"
  cp -R "$work/$name" "$tree/usr"
  mv "$tree/usr/share/doc/overspill/LICENSE" "$tree/usr/share/doc/overspill/copyright"
  mv "$tree/usr/share/zsh/site-functions" "$tree/usr/share/zsh/vendor-completions"
  gzip -n "$tree"/usr/share/man/man1/*
  (cd "$tree" && find usr -type f -exec md5sum {} + >"$work/md5sums" && LC_ALL=C sort -k 2 "$work/md5sums" >DEBIAN/md5sums)
  cat >"$tree/DEBIAN/control" <<END
Package: overspill
Version: $(echo "$version" | sed 's/-/~/')
Architecture: $architecture
Maintainer: the overspill authors
Section: utils
Priority: optional
Installed-Size: $(($(find "$tree/usr" -type f -exec cat {} + | wc -c) / 1024))
Description: $(field description)
END
  [ -z "$repository" ] || echo "Homepage: $repository" >>"$tree/DEBIAN/control"
  dpkg-deb --root-owner-group -Zgzip --build "$tree" "$work/new.deb" >/dev/null
  rm -f "$out"/overspill_*_"$architecture.deb"
  mv "$work/new.deb" "$out/overspill_${version}_$architecture.deb"
}

umask 022
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
mkdir -p "$out"
out=$(cd "$out" && pwd)
if [ -n "$finish" ]; then
  finish_release
  exit
fi
epoch=${SOURCE_DATE_EPOCH:-$(git -C "$root" log -1 --format=%ct)} || fail "the time of the commit is unknown: set SOURCE_DATE_EPOCH"
export SOURCE_DATE_EPOCH="$epoch" TZ=UTC
stamp=$(date -d "@$epoch" +%Y%m%d%H%M.%S 2>/dev/null || date -r "$epoch" +%Y%m%d%H%M.%S)
sysroot=$(rustc --print sysroot)
host=$(rustc -vV | sed -n 's/^host: //p')
musl=${host%-gnu}-musl
[ -n "$target" ] || choose_target
check_licences
[ -n "$binary" ] || build
case $target in
  *-linux-*) check_processor ;;
esac
make_tarball
case $target in
  *-linux-*) if command -v dpkg-deb >/dev/null; then make_deb; else say "no .deb: dpkg-deb is not installed"; fi ;;
esac
write_sums
