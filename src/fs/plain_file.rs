//! Reading a small file that others may have put in our way: never waits, and takes no more than it can hold.

use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

use rustix::fs::OFlags;

/// A configuration, a policy or a store's description has fewer bytes.
const MOST: u64 = 1 << 20;

/// The text of a configuration, a policy, or a store's description. It may be reached through a link.
///
/// # Errors
/// What the system says; or that it is no regular file, belongs to another user than us or root, is larger than
/// 1 MiB, or is no UTF-8. The path is for the caller to name.
pub fn read(path: &Path) -> io::Result<String> {
    // A FIFO without a writer would wait for one.
    let flags = OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOCTTY;
    let file = OpenOptions::new().read(true).custom_flags(flags.bits() as i32).open(path)?;
    let meta = file.metadata()?;
    match () {
        () if !meta.is_file() => Err(io::Error::other("is not a regular file, and is not read")),
        () if !is_trusted(meta.uid(), rustix::process::geteuid().as_raw()) => {
            Err(io::Error::other("belongs to another user, and is not read"))
        }
        () => text(file),
    }
}

/// What belongs to root is the system's.
fn is_trusted(owner: u32, us: u32) -> bool {
    owner == us || owner == 0
}

/// The length that is told may be wrong, as under /proc.
fn text(file: File) -> io::Result<String> {
    let mut bytes = Vec::new();
    file.take(MOST + 1).read_to_end(&mut bytes)?;
    match bytes.len() as u64 > MOST {
        true => Err(io::Error::other("is larger than 1 MiB, and is not read")),
        false => String::from_utf8(bytes).map_err(|_| io::Error::other("is not UTF-8")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(path: &Path) -> String {
        read(path).unwrap_err().to_string()
    }

    #[test]
    fn only_small_regular_files_are_read() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        std::fs::write(at("small"), "key = 1\n").unwrap();
        std::os::unix::fs::symlink(at("small"), at("link")).unwrap();
        assert_eq!(read(&at("small")).unwrap(), "key = 1\n");
        assert_eq!(read(&at("link")).unwrap(), "key = 1\n");
        assert_eq!(read(&at("none")).unwrap_err().kind(), io::ErrorKind::NotFound);
        let made = std::process::Command::new("mkfifo").arg(at("fifo")).status().unwrap();
        assert!(made.success());
        assert!(fault(&at("fifo")).contains("not a regular file"));
        assert!(fault(Path::new("/dev/zero")).contains("not a regular file"));
        assert!(fault(dir.path()).contains("not a regular file"));
        std::fs::write(at("most"), vec![b' '; MOST as usize]).unwrap();
        assert_eq!(read(&at("most")).unwrap().len() as u64, MOST);
        File::create(at("large")).unwrap().set_len(MOST + 1).unwrap();
        assert!(fault(&at("large")).contains("larger than 1 MiB"));
        std::fs::write(at("bytes"), b"\xff").unwrap();
        assert!(fault(&at("bytes")).contains("UTF-8"));
    }

    #[test]
    fn ours_and_root_s_are_trusted() {
        assert!(is_trusted(7, 7) && is_trusted(0, 7) && !is_trusted(8, 7) && !is_trusted(8, 0));
    }
}
