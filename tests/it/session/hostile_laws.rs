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
    for number in 0..u8::try_from(overspill::internals::session::FORMATS.len()).unwrap() {
        let dir = tempfile::tempdir().unwrap();
        let calls = check(&[number], dir.path());
        assert!(calls > 0, "{}", overspill::internals::session::FORMATS[usize::from(number)].info.name);
    }
}

/// Claude Code's records in which a result is replaced when it was seen, and again when it seems not to have been.
#[test]
fn a_result_that_is_replaced_twice_is_still_there() {
    #[rustfmt::skip]
    let data = [
        0, 29, 67, 117, 7, 0, 2, 0, 124, 103, 125, 183, 151, 206, 234, 70, 131, 73, 194, 135, 82, 207, 7, 114,
        78, 181, 160, 199, 98, 36, 164, 252, 4, 28, 139, 146, 178, 175, 63, 86, 170, 54, 28, 198, 226, 174, 227, 123,
        177, 194, 185, 197, 115, 248, 5, 130, 109, 132, 244, 196, 55, 76, 164, 86, 108, 130, 95, 241, 206, 254, 12, 110,
        64, 155, 55, 248, 79, 43, 110, 144, 12, 152, 85, 65, 10, 104, 40, 142, 95, 25, 124, 175, 193, 253, 244, 105,
        23, 25, 169, 137, 113, 69, 47, 255, 105, 171, 6, 47, 160, 12, 132, 145, 241, 149, 107,
    ];
    let dir = tempfile::tempdir().unwrap();
    check(&data, dir.path());
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn any_records_are_read_or_counted(data in proptest::collection::vec(any::<u8>(), 1..400)) {
        let dir = tempfile::tempdir().unwrap();
        check(&data, dir.path());
    }
}
