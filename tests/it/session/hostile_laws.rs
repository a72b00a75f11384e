//! Whatever stands in agents' records, no reader panics, loops or loses its way.

use proptest::prelude::*;

use super::hostile::check;

/// As many as `PROPTEST_CASES` says; a few by default, since each writes files.
fn cases() -> ProptestConfig {
    let all = ProptestConfig { failure_persistence: None, ..ProptestConfig::default() };
    if std::env::var_os("PROPTEST_CASES").is_some() { all } else { ProptestConfig { cases: 80, ..all } }
}

/// The records that are mutated are read before: else little of a reader is tried.
#[test]
fn the_records_of_every_form_have_calls() {
    for number in 0..u8::try_from(overspill::session::FORMATS.len()).unwrap() {
        let dir = tempfile::tempdir().unwrap();
        let calls = check(&[number], dir.path());
        assert!(calls > 0, "{}", overspill::session::FORMATS[usize::from(number)].name());
    }
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn any_records_are_read_or_counted(data in proptest::collection::vec(any::<u8>(), 1..400)) {
        let dir = tempfile::tempdir().unwrap();
        check(&data, dir.path());
    }
}
