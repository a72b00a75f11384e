//! A file's name, in place where it is short: a list may hold millions of them.

use std::ffi::OsStr;
use std::fmt;
use std::os::unix::ffi::OsStrExt;

/// Bytes of a name that need no room of their own. Ids of all agents are shorter.
const SHORT: usize = 38;

/// A name of one component, of any bytes.
#[derive(Clone)]
pub(crate) enum Name {
    Short { len: u8, bytes: [u8; SHORT] },
    Long(Box<OsStr>),
}

impl Name {
    pub(crate) fn as_os_str(&self) -> &OsStr {
        match self {
            Name::Short { len, bytes } => OsStr::from_bytes(&bytes[..usize::from(*len)]),
            Name::Long(name) => name,
        }
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        self.as_os_str().as_bytes()
    }
}

impl From<&OsStr> for Name {
    fn from(name: &OsStr) -> Name {
        let mut bytes = [0; SHORT];
        match bytes.get_mut(..name.len()) {
            None => Name::Long(name.into()),
            Some(start) => {
                start.copy_from_slice(name.as_bytes());
                Name::Short { len: name.len() as u8, bytes }
            }
        }
    }
}

impl fmt::Debug for Name {
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
            assert_eq!(Name::from(OsStr::from_bytes(&name)).as_bytes(), name);
        }
        assert!(size_of::<Name>() <= 40);
    }
}
