//! Parses sizes.

/// A size as typed: a plain number is in the policy's unit, one with a suffix is in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TypedSize {
    /// The number, with the suffix applied.
    pub number: u64,
    /// Whether it had a suffix.
    pub in_bytes: bool,
}

impl std::str::FromStr for TypedSize {
    type Err = String;

    /// Parses `51200`, `50k`, `50KB`, `50KiB` or `1m`: suffixes are powers of 1024.
    fn from_str(text: &str) -> Result<Self, String> {
        let split = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
        let (digits, suffix) = text.split_at(split);
        let usage =
            || format!("'{text}' is not a size; write 51200, 50k, 50KB, 50KiB or 1m (powers of 1024)");
        let large = || format!("it is too large; the largest is {}", u64::MAX);
        let number: u64 = digits.parse().map_err(|_| if digits.is_empty() { usage() } else { large() })?;
        let power = match suffix.to_ascii_lowercase().as_str() {
            "" => return Ok(Self { number, in_bytes: false }),
            "b" => 0,
            "k" | "kb" | "kib" => 1,
            "m" | "mb" | "mib" => 2,
            "g" | "gb" | "gib" => 3,
            "t" | "tb" | "tib" => 4,
            _ => return Err(usage()),
        };
        let number = number.checked_mul(1 << (10 * power)).ok_or_else(large)?;
        Ok(Self { number, in_bytes: true })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suffixes_are_powers_of_1024() {
        let size = |text: &str| text.parse::<TypedSize>().map(|size| (size.number, size.in_bytes));
        assert_eq!(size("51200"), Ok((51_200, false)));
        for text in ["50k", "50K", "50KB", "50KiB", "50kb"] {
            assert_eq!(size(text), Ok((51_200, true)), "{text}");
        }
        assert_eq!(size("1m"), Ok((1 << 20, true)));
        for text in ["", "k", "1.5k", "50x", "-1", "99999999999999999999", "99999999999g"] {
            assert!(size(text).is_err(), "{text}");
        }
    }
}
