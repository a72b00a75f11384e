//! Makes the packages of the program under test, and installs, uses and removes each in an empty directory.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::LazyLock;

use sha2::{Digest, Sha256};

use crate::common::home::{Home, Ran, finish};
use crate::common::skip::skipped;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");
const VERSION: &str = env!("CARGO_PKG_VERSION");
const ADDRESS: &str = "https://example.invalid/overspill";
const UNSET: &str = "the repository's address is unset: set `repository` in Cargo.toml";

/// The packages of this machine's target, with what a release has besides.
static PACKAGES: LazyLock<PathBuf> = LazyLock::new(|| {
    let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join("packages");
    let _ = fs::remove_dir_all(&out);
    let home = Home::new();
    let out_name = out.to_str().unwrap();
    let program = env!("CARGO_BIN_EXE_overspill");
    build(&home, Some(ADDRESS), &["--target", &target(), "--binary", program, "--out", out_name]).ok();
    build(&home, Some(ADDRESS), &["--finish", "--out", out_name]).ok();
    out
});

fn target() -> String {
    let system = if cfg!(target_os = "macos") { "apple-darwin" } else { "unknown-linux-gnu" };
    format!("{}-{system}", std::env::consts::ARCH)
}

/// Returns the name of the tarball, without its extension.
fn tarball() -> String {
    format!("overspill-{VERSION}-{}", target())
}

/// Runs `build.sh` on this source, with or without a public address; it may take long to compress.
fn build(home: &Home, address: Option<&str>, words: &[&str]) -> Ran {
    let manifest = fs::read_to_string(format!("{ROOT}/Cargo.toml")).unwrap();
    let lines = manifest.lines().filter(|line| !line.starts_with("repository ="));
    let address = address.map(|address| format!("repository = \"{address}\""));
    let lines = lines.flat_map(|line| [Some(line), address.as_deref().filter(|_| line == "[package]")]);
    home.file("Cargo.toml", lines.flatten().map(|line| format!("{line}\n")).collect::<String>());
    for name in ["assets", "LICENSE", "README.md"] {
        let _ = symlink(Path::new(ROOT).join(name), home.at(name));
    }
    let path = format!("{}:{}", home.at("shims").display(), std::env::var("PATH").unwrap());
    let mut command = Command::new("sh");
    command
        .env("PATH", path)
        .arg(home.at("assets/packaging/build.sh"))
        .args(words)
        .env("SOURCE_DATE_EPOCH", "1700000000");
    let output = command.stdin(Stdio::null()).output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    Ran { status: output.status.code().expect("an exit"), stdout: output.stdout, stderr }
}

/// Runs a program in the working directory.
fn run(home: &Home, program: impl AsRef<Path>, words: &[&str]) -> Ran {
    let path = format!("{}:/usr/sbin:/usr/bin:/sbin:/bin", home.at("shims").display());
    run_with_path(home, &path, program, words)
}

fn run_with_path(home: &Home, path: &str, program: impl AsRef<Path>, words: &[&str]) -> Ran {
    let mut command = Command::new(program.as_ref());
    command.args(words).current_dir(home.work()).env_clear().envs(home.env()).env("PATH", path);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    finish(command.spawn().unwrap_or_else(|error| panic!("{}: {error}", program.as_ref().display())))
}

/// Puts a script before the tool of that name.
fn shim(home: &Home, name: &str, script: &str) {
    fs::create_dir_all(home.at("shims")).unwrap();
    let path = home.file(&format!("shims/{name}"), format!("#!/bin/sh\n{script}\n"));
    fs::set_permissions(path, PermissionsExt::from_mode(0o755)).unwrap();
}

/// Returns the paths below a directory, sorted.
fn paths(below: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut open = vec![below.to_owned()];
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(directory).into_iter().flatten() {
            let path = entry.unwrap().path();
            found.push(path.strip_prefix(below).unwrap().to_str().unwrap().to_owned());
            open.extend(path.is_dir().then_some(path));
        }
    }
    found.sort();
    found
}

/// Checks that what is installed below a prefix runs, that `man` finds its pages, and bash its completions.
#[track_caller]
fn check_installed(home: &Home, prefix: &Path) {
    let program = prefix.join("bin/overspill");
    assert_eq!(run(home, &program, &["--version"]).ok().text(), format!("overspill {VERSION}\n"));
    fs::copy(format!("{ROOT}/assets/samples/build.log"), home.at("build.log")).unwrap();
    let preview = ["preview", "build.log"];
    assert_eq!(run(home, &program, &preview).ok().text(), home.run(&preview).ok().text());
    let script = format!(
        "PATH={0}/bin:$PATH; . {0}/share/bash-completion/completions/overspill; complete -p overspill",
        prefix.display()
    );
    assert!(run(home, "/bin/bash", &["-c", &script]).ok().text().ends_with(" overspill\n"));
    if !Path::new("/usr/bin/man").exists() {
        return skipped("man is not installed");
    }
    let share = prefix.join("share/man");
    for page in fs::read_dir(format!("{ROOT}/assets/man")).unwrap() {
        let page = page.unwrap().path().file_stem().unwrap().to_str().unwrap().to_owned();
        let found = run(home, "/usr/bin/man", &["-M", share.to_str().unwrap(), "-w", &page]).ok();
        assert!(Path::new(found.text().trim_end()).starts_with(&share), "{page}: {}", found.text());
    }
}

/// Unpacks the tarball in the working directory.
fn unpack(home: &Home) -> PathBuf {
    let path = PACKAGES.join(format!("{}.tar.gz", tarball()));
    run(home, "/usr/bin/tar", &["-xzf", path.to_str().unwrap()]).ok();
    home.at(&tarball())
}

#[test]
fn the_tarball_is_used_where_it_is_unpacked() {
    let home = Home::new();
    let tree = unpack(&home);
    check_installed(&home, &tree);
    let doc = paths(&tree.join("share/doc/overspill"));
    assert_eq!(doc, ["LICENSE", "README.md", "RUST-LIBRARY.html", "THIRD-PARTY"]);
}

fn install(home: &Home, words: &[&str]) -> Ran {
    run(home, "/bin/sh", &[&[PACKAGES.join("install.sh").to_str().unwrap()], words].concat())
}

#[test]
fn the_installer_removes_all_that_it_installed_and_no_more() {
    let home = Home::new();
    let packages = PACKAGES.to_str().unwrap();
    let prefix = home.work().with_file_name("home").join(".local");
    for _ in ["new", "again"] {
        let said = install(&home, &[packages]).stderr;
        assert!(said.contains(&format!("installed overspill {VERSION} below")), "{said}");
        check_installed(&home, &prefix);
    }
    assert!(install(&home, &["--uninstall"]).stderr.contains("removed"));
    assert!(!prefix.exists());
    fs::create_dir_all(prefix.join("bin")).unwrap();
    fs::write(prefix.join("bin/own"), "").unwrap();
    install(&home, &[packages]);
    install(&home, &["--uninstall"]);
    assert_eq!(paths(&prefix), ["bin", "bin/own"]);
    install(&home, &["--uninstall"]).fails(1, &["nothing that this script installed"]);
}

#[test]
fn an_interrupted_installation_is_repeated_and_removed() {
    let home = Home::new();
    let words = ["--prefix", "p", PACKAGES.to_str().unwrap()];
    let interrupt = || {
        shim(&home, "mv", "case $2 in *.1.overspill-new) kill -9 $PPID && exit ;; esac; exec /bin/mv \"$@\"");
        assert_eq!(install(&home, &words).status, 128 + 9);
        fs::remove_file(home.at("shims/mv")).unwrap();
    };
    let uninstall = || {
        assert!(install(&home, &["--prefix", "p/", "--uninstall"]).stderr.contains("removed"));
        assert!(!home.at("p").exists(), "{:?}", paths(&home.at("p")));
    };
    interrupt();
    uninstall();
    interrupt();
    let record = home.at("p/share/doc/overspill/installed");
    let mut paths = fs::read_to_string(&record).unwrap();
    assert!(paths.contains("/bin/overspill\n"), "{paths}");
    paths.push_str("/share/earlier/\n/share/earlier/page\n");
    fs::write(&record, paths).unwrap();
    fs::create_dir(home.at("p/share/earlier")).unwrap();
    home.file("p/share/earlier/page", "");
    assert!(install(&home, &words).stderr.contains("installed"));
    check_installed(&home, &home.at("p"));
    assert!(!home.at("p/share/earlier").exists());
    assert!(!fs::read_to_string(&record).unwrap().contains("earlier"));
    uninstall();
}

#[test]
fn the_installer_removes_no_program_that_an_agent_runs() {
    let home = Home::new();
    let packages = PACKAGES.to_str().unwrap();
    install(&home, &["--prefix", "p", packages]);
    let settings = home.work().with_file_name("home").join(".claude/settings.json");
    fs::create_dir(settings.parent().unwrap()).unwrap();
    fs::write(&settings, home.at("p/bin/overspill -c").to_str().unwrap()).unwrap();
    let ran = install(&home, &["--prefix", "p", "--uninstall"]);
    ran.fails(1, &[settings.to_str().unwrap(), "first run `overspill setup claude-code --remove`"]);
    check_installed(&home, &home.at("p"));
    fs::remove_file(settings).unwrap();
    assert_eq!(install(&home, &["--prefix", "p", "--uninstall"]).status, 0);
}

#[test]
fn the_installer_names_the_tools_that_it_needs() {
    let home = Home::new();
    shim(&home, "link", "for name; do ln -s \"$(command -v \"$name\")\" shims; done");
    run(&home, "link", &["mktemp", "rm"]).ok();
    let shims = home.at("shims");
    let script = PACKAGES.join("install.sh");
    let ran = |words: &[&str]| {
        run_with_path(
            &home,
            shims.to_str().unwrap(),
            "/bin/sh",
            &[&[script.to_str().unwrap()], words].concat(),
        )
    };
    ran(&[PACKAGES.to_str().unwrap()]).fails(1, &["sha256sum or shasum is needed"]);
    shim(&home, "sha256sum", "");
    ran(&[ADDRESS]).fails(1, &["curl or wget is needed"]);
    ran(&["--prefix", ""]).fails(1, &["--prefix needs a directory"]);
}

#[test]
#[cfg(target_os = "linux")]
fn the_installer_refuses_a_program_that_does_not_run() {
    let home = Home::new();
    build(
        &home,
        None,
        &["--target", &target(), "--binary", "/bin/false", "--out", home.at("out").to_str().unwrap()],
    )
    .ok();
    install(&home, &["--prefix", "p", "out"])
        .fails(1, &["the program does not run here: nothing was installed"]);
    assert!(!home.at("p").exists());
}

#[test]
fn the_installer_prefers_musl_and_refuses_to_choose_a_version() {
    let home = Home::new();
    let line = |version: &str, system: &str| {
        format!("{}  overspill-{version}-{}-{system}.tar.gz\n", "0".repeat(64), std::env::consts::ARCH)
    };
    let install_from = |sums: String| {
        home.file("SHA256SUMS", sums);
        install(&home, &["--prefix", "p", "."])
    };
    let systems = ["unknown-linux-gnu", "unknown-linux-musl", "apple-darwin"];
    let first = if cfg!(target_os = "macos") { systems[2] } else { systems[1] };
    let ran = install_from(systems.map(|system| line("1.0.0", system)).concat());
    ran.fails(1, &[&format!("cannot get overspill-1.0.0-{}-{first}.tar.gz", std::env::consts::ARCH)]);
    install_from(line("1.0.0", first) + &line("1.1.0", first)).fails(1, &["several versions"]);
    install_from(String::new()).fails(1, &["no package for"]);
}

#[test]
fn a_failed_tar_makes_no_package() {
    let home = Home::new();
    shim(&home, "tar", "echo rubbish; exit 1");
    let out = home.at("out");
    let program = env!("CARGO_BIN_EXE_overspill");
    let ran =
        build(&home, None, &["--target", &target(), "--binary", program, "--out", out.to_str().unwrap()]);
    assert_ne!(ran.status, 0);
    assert_eq!(paths(&out), Vec::<String>::new());
}

#[test]
fn the_installer_leaves_a_program_that_is_not_its_own() {
    let home = Home::new();
    fs::create_dir_all(home.at("p/bin")).unwrap();
    home.file("p/bin/overspill", "own");
    let ran = install(&home, &["--prefix", "p", PACKAGES.to_str().unwrap()]);
    ran.fails(1, &["p/bin/overspill is not from this script"]);
    assert_eq!(paths(&home.at("p")), ["bin", "bin/overspill"]);
    assert_eq!(fs::read(home.at("p/bin/overspill")).unwrap(), b"own");
}

#[test]
fn the_installer_refuses_a_tarball_of_another_hash() {
    let home = Home::new();
    let name = format!("{}.tar.gz", tarball());
    let mut bytes = fs::read(PACKAGES.join(&name)).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    home.file(&name, bytes);
    fs::copy(PACKAGES.join("SHA256SUMS"), home.at("SHA256SUMS")).unwrap();
    let ran = install(&home, &["--prefix", "p", "."]);
    ran.fails(1, &[&name, "is not what SHA256SUMS says: nothing was installed"]);
    assert!(!home.at("p").exists());
}

#[test]
fn dpkg_installs_and_removes_the_deb() {
    if !Path::new("/usr/bin/dpkg-deb").exists() {
        return skipped("dpkg-deb is not installed");
    }
    let home = Home::new();
    let root = home.at("root");
    for directory in ["info", "updates", "triggers"] {
        fs::create_dir_all(root.join("var/lib/dpkg").join(directory)).unwrap();
    }
    fs::write(root.join("var/lib/dpkg/status"), "").unwrap();
    let names = paths(&PACKAGES);
    let deb = PACKAGES.join(names.iter().find(|name| name.ends_with(".deb")).expect("a .deb"));
    let option = format!("--root={}", root.display());
    let dpkg = |words: &[&str]| {
        let options = [&option, "--force-not-root", "--log=/dev/null"];
        let ran = run(&home, "/usr/bin/dpkg", &[&options, words].concat());
        assert_eq!(ran.status, 0, "{}", ran.stderr);
        ran
    };
    dpkg(&["--install", deb.to_str().unwrap()]);
    check_installed(&home, &root.join("usr"));
    assert_eq!(dpkg(&["--verify", "overspill"]).text(), "");
    dpkg(&["--purge", "overspill"]);
    let left = paths(&root);
    assert!(left.iter().all(|path| path.starts_with("var")), "{left:?}");
    assert!(!left.iter().any(|path| path.contains("overspill")), "{left:?}");
}

#[test]
fn the_formula_and_binstall_name_the_tarball() {
    let bytes = fs::read(PACKAGES.join(format!("{}.tar.gz", tarball()))).expect("the tarball");
    let hash: String = Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    let manifest: toml::Table = fs::read_to_string(format!("{ROOT}/Cargo.toml")).unwrap().parse().unwrap();
    let filled = |key: &str| {
        let text = manifest["package"]["metadata"]["binstall"][key].as_str().unwrap();
        let fields = [("repo", ADDRESS), ("version", VERSION), ("target", &target()), ("bin", "overspill")];
        fields
            .iter()
            .fold(text.to_owned(), |text, (name, value)| text.replace(&format!("{{ {name} }}"), value))
    };
    let formula = fs::read_to_string(PACKAGES.join("overspill.rb")).unwrap();
    let lines = format!("      url \"{}\"\n      sha256 \"{hash}\"\n", filled("pkg-url"));
    assert!(formula.contains(&lines), "{formula}\nhas not\n{lines}");
    assert!(!formula.contains('@'), "{formula}");
    let home = Home::new();
    unpack(&home);
    assert!(home.at(&filled("bin-dir")).is_file(), "{}", filled("bin-dir"));
}

#[test]
fn without_a_public_address_none_is_made_up() {
    let home = Home::new();
    build(&home, None, &["--finish", "--out", home.at("out").to_str().unwrap()]).fails(1, &[UNSET]);
    build(&home, Some(ADDRESS), &["--finish", "--out", home.at("out").to_str().unwrap()])
        .fails(1, &["no packages of"]);
    assert_eq!(paths(&home.at("out")), Vec::<String>::new());
    let script = format!("{ROOT}/assets/packaging/install.sh");
    run(&home, "/bin/sh", &[&script, "--prefix", "p"]).fails(1, &[UNSET]);
}

#[test]
#[cfg(target_os = "linux")]
fn the_same_source_makes_the_same_packages() {
    let made = [Home::new(), Home::new()].map(|home| {
        let out = home.at("out");
        let words = ["--target", &target(), "--binary", "/bin/true", "--out", out.to_str().unwrap()];
        build(&home, None, &words).ok();
        fs::read_to_string(out.join("SHA256SUMS")).unwrap()
    });
    assert!(made[0].contains(&tarball()));
    assert_eq!(made[0], made[1]);
}
