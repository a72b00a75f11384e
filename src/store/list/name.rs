//! A file name, stored inline if short: a list may hold millions of them.

use std::ffi::OsStr;
use std::fmt;
use std::os::unix::ffi::OsStrExt;

/// Maximum length in bytes of a name that is stored inline. The ids of all agents are shorter.
const SHORT: usize = 38;

#[derive(Clone)]
pub(crate) enum FileName {
    Short { len: u8, bytes: [u8; SHORT] },
    Long(Box<OsStr>),
}

impl FileName {
    pub(crate) fn as_os_str(&self) -> &OsStr {
        match self {
            FileName::Short { len, bytes } => OsStr::from_bytes(&bytes[..usize::from(*len)]),
            FileName::Long(name) => name,
        }
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        self.as_os_str().as_bytes()
    }
}

impl From<&OsStr> for FileName {
    fn from(name: &OsStr) -> FileName {
        let mut bytes = [0; SHORT];
        match bytes.get_mut(..name.len()) {
            None => FileName::Long(name.into()),
            Some(start) => {
                start.copy_from_slice(name.as_bytes());
                FileName::Short { len: name.len() as u8, bytes }
            }
        }
    }
}

impl fmt::Debug for FileName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_os_str().fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_name_comes_back() {
        for len in [0, 1, SHORT - 1, SHORT, SHORT + 1, 255] {
            let name = vec![0xFF; len];
            assert_eq!(FileName::from(OsStr::from_bytes(&name)).as_bytes(), name);
        }
        assert!(size_of::<FileName>() <= 40);
    }
}
