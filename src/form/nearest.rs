//! The known word that a mistyped one is like.

/// How alike two words must be, from 0 to 1, for one to be taken for the other.
#[cfg(feature = "app")]
const ALIKE: f64 = 0.85;

/// Maximum length in bytes of a word that is compared: no known word is as long, and a file may hold one of a megabyte.
const MOST: usize = 100;

/// Returns the word most like `word`, if one is like it.
#[cfg(feature = "app")]
pub(crate) fn nearest<'a>(word: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    if word.len() > MOST {
        return None;
    }
    let word = word.to_lowercase();
    let alike = known.map(|known| (strsim::jaro_winkler(known, &word), known));
    alike
        .max_by(|(one, _), (other, _)| one.total_cmp(other))
        .filter(|(alike, _)| *alike > ALIKE)
        .map(|best| best.1)
}

/// Says what to write instead of an unknown word: the one that differs in a few letters, or else `all` of them.
pub(crate) fn instead<'a>(word: &str, known: impl Iterator<Item = &'a str> + Clone, all: &str) -> String {
    let letters = (word.chars().count() / 3).max(1);
    let slip = known
        .clone()
        .filter(|_| word.len() <= MOST)
        .map(|known| (strsim::osa_distance(known, &word.to_lowercase()), known));
    let slip = slip.filter(|(distance, _)| *distance <= letters).min_by_key(|(distance, _)| *distance);
    match slip {
        Some((_, best)) => format!("did you mean `{best}`?"),
        None => format!("{all} {}", known.collect::<Vec<_>>().join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_like_it_is_proposed_and_else_all() {
        let known = ["bytes", "units"];
        let of = |word: &str| instead(word, known.into_iter(), "write one of");
        assert_eq!(of("bytse"), "did you mean `bytes`?");
        assert_eq!(of("Units"), "did you mean `units`?");
        assert_eq!(of("feet"), "write one of bytes, units");
    }
}
