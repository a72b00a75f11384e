//! Ids, names and words: what directories, arguments and files call things.
#![no_main]

mod safe;

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use jiff::Timestamp;
use libfuzzer_sys::arbitrary::{Result, Unstructured};
use libfuzzer_sys::fuzz_target;
use overspill::internals::human::{parse_age, TypedSize};
use overspill::internals::provenance::Date;
use overspill::internals::store::{new_id, parse_id, Env, IdForm, Stores};
use overspill::internals::text::label as labels;
use overspill::internals::text::label::quote;
use safe::is_safe;

thread_local! {
    static STORES: Stores = Stores::builtin();
}

fuzz_target!(|data: &[u8]| {
    let _ = all(Unstructured::new(data));
});

fn all(mut data: Unstructured) -> Result<()> {
    let (millis, counter, random) = (data.arbitrary::<i64>()?, data.arbitrary()?, data.arbitrary()?);
    let near = Timestamp::from_millisecond(millis).unwrap_or(Timestamp::MAX);
    made(near, counter, random);
    let bytes = data.take_rest();
    if let Some(id) = parse_id(bytes) {
        let _ = id.time(near);
    }
    let _ = parse_id(&[b"tool_", bytes].concat()).map(|id| id.time(near));
    words(bytes);
    placed(bytes, near);
    if let Ok(text) = std::str::from_utf8(bytes) {
        let _ = (parse_age(text), text.parse::<TypedSize>());
        if let Ok(date) = Date::try_from(text.to_owned()) {
            assert_eq!(date.to_string(), text);
            assert!(date.first() <= date.last());
        }
    }
    Ok(())
}

/// An id of ours is read as it was made.
fn made(now: Timestamp, counter: u16, random: [u8; 12]) {
    let name = new_id(now, counter, random);
    let id = parse_id(name.as_bytes()).expect("our own id");
    assert_eq!((id.form, id.millis), (IdForm::Eight, now.as_millisecond().max(0)), "{name}");
}

/// Nothing that is said of a name harms a terminal or a shell.
fn words(bytes: &[u8]) {
    assert!(is_safe(&labels::label(bytes)));
    let word = quote::word(bytes);
    assert!(is_safe(&word), "{word:?}");
    let mut json = Vec::new();
    quote::write_json(&mut json, &String::from_utf8_lossy(bytes), None).unwrap();
    assert!(is_safe(std::str::from_utf8(&json).unwrap().trim_end()), "{}", json.escape_ascii());
}

/// Where a file lies tells its store; a name in a store tells when it was made.
fn placed(bytes: &[u8], near: Timestamp) {
    let env = Env::hermetic(Path::new("/home/me")).with_var("TMPDIR", "/tmp");
    STORES.with(|stores| {
        let name = OsStr::from_bytes(bytes);
        let data = Path::new("/home/me/.local/share/opencode/tool-output").join(name);
        let temporary = Path::new("/tmp").join(name);
        for path in [data.as_path(), temporary.as_path(), Path::new(name)] {
            if let Some((_, rule)) = stores.store_of(path, &env) {
                let _ = rule.made(path.file_name().unwrap_or_default(), near);
            }
        }
    });
}
