//! True records of agents, where they are at hand: every result read by place equals what a plain parser reads.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::{is_read_whole, sessions_in, text_of};

/// Returns the samples of an agent's version: a home directory after one run. `None` if they are not at hand.
pub fn home_of(version: &str) -> Option<PathBuf> {
    let places = ["../shared/sessions", "../../shared/sessions"];
    let named = std::env::var_os("OVERSPILL_SAMPLES").map(PathBuf::from);
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let found = named.into_iter().chain(places.map(|place| root.join(place)));
    found.map(|place| place.join(version)).find(|place| place.is_dir())
}

/// Reads all sessions of a sample, and compares the texts of all results, by call id, with those that `expected` finds.
pub fn compare(version: &str, agent: &str, expected: fn(&Path) -> BTreeMap<String, String>) {
    let Some(home) = home_of(version) else { return };
    let mut found = BTreeMap::new();
    let mut wanted = BTreeMap::new();
    for file in sessions_in(&home, agent) {
        let format = overspill::internals::session::FORMATS
            .iter()
            .find(|format| format.info.name == file.format)
            .unwrap();
        let opened = format.open(&file, &()).unwrap();
        let transcript = opened.transcript();
        assert!(is_read_whole(transcript), "{version}: {:?}", transcript.unread);
        for call in &transcript.calls {
            if let Some(first) = call.first() {
                found.insert(format!("{}/{}", file.id, call.id), text_of(transcript, first));
            }
        }
        wanted.extend(expected(&file.path).into_iter().map(|(id, text)| (format!("{}/{id}", file.id), text)));
    }
    assert!(!wanted.is_empty(), "{version}: no results");
    assert_eq!(found.keys().collect::<Vec<_>>(), wanted.keys().collect::<Vec<_>>(), "{version}");
    for (id, text) in &wanted {
        assert!(found[id] == *text, "{version} {id}");
    }
}

/// Compares the results of a sample with the requests that were seen on the wire, where they lie beside it: by session and
/// call, in `sent.json`.
pub fn compare_with_sent(version: &str, agent: &str) {
    let Some(home) = home_of(version) else { return };
    let Ok(sent) = std::fs::read(home.join("sent.json")) else { return };
    let sent: BTreeMap<String, BTreeMap<String, String>> = serde_json::from_slice(&sent).unwrap();
    let mut found = BTreeMap::new();
    for file in sessions_in(&home, agent) {
        let opened = overspill::internals::session::list::open(&file, &()).unwrap();
        let transcript = opened.transcript();
        assert!(is_read_whole(transcript), "{version}: {:?}", transcript.unread);
        let results = transcript.calls.iter().filter_map(|call| Some((call, call.first()?)));
        let texts = results.map(|(call, first)| (call.id.to_string(), text_of(transcript, first)));
        found.insert(file.id.clone(), texts.collect::<BTreeMap<_, _>>());
    }
    let ids = |all: &BTreeMap<String, BTreeMap<String, String>>| -> Vec<String> {
        all.iter()
            .flat_map(|(session, texts)| texts.keys().map(move |id| format!("{session}/{id}")))
            .collect()
    };
    assert_eq!(ids(&found), ids(&sent), "{version}");
    for (session, texts) in &sent {
        texts.iter().for_each(|(id, text)| assert!(found[session][id] == *text, "{version} {session}/{id}"));
    }
}

/// Returns the JSON records of a log.
pub fn records(path: &Path) -> Vec<serde_json::Value> {
    let text = std::fs::read_to_string(path).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}
