//! The true records of agents that keep trees of files and databases: every result, against a plain parser.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

use super::samples::compare;

type Results = BTreeMap<String, String>;

fn text_of(part: &Value) -> Option<(String, String)> {
    let state = (part["type"] == "tool").then_some(&part["state"])?;
    let text = if state["status"] == "error" { &state["error"] } else { &state["output"] };
    Some((part["callID"].as_str()?.to_owned(), text.as_str()?.to_owned()))
}

fn opencode_tree(session: &Path) -> Results {
    let parts = session.ancestors().nth(3).unwrap().join("part");
    let messages = std::fs::read_dir(parts).unwrap().map(|dir| dir.unwrap().path());
    let files = messages.flat_map(|dir| std::fs::read_dir(dir).unwrap().map(|file| file.unwrap().path()));
    let parsed = files.map(|path| serde_json::from_slice::<Value>(&std::fs::read(path).unwrap()).unwrap());
    parsed.filter_map(|part| text_of(&part)).collect()
}

fn rows(database: &Path, sql: &str) -> Vec<Value> {
    let uri = format!("file:{}?immutable=1", database.display());
    let connection = rusqlite::Connection::open(uri).unwrap();
    let mut statement = connection.prepare(sql).unwrap();
    let found = statement.query_map([], |row| row.get::<_, String>(0)).unwrap();
    found.map(|text| serde_json::from_str(&text.unwrap()).unwrap()).collect()
}

fn opencode_rows(database: &Path) -> Results {
    rows(database, "SELECT data FROM part").iter().filter_map(text_of).collect()
}

fn goose(database: &Path) -> Results {
    let contents = rows(database, "SELECT content_json FROM messages");
    let parts = contents.iter().flat_map(|content| content.as_array().unwrap());
    let results = parts.filter(|part| part["type"] == "toolResponse");
    results
        .map(|part| {
            let content = part["toolResult"]["value"]["content"].as_array().unwrap();
            let texts: Vec<_> = content.iter().filter_map(|part| part["text"].as_str()).collect();
            (part["id"].as_str().unwrap().to_owned(), texts.concat())
        })
        .collect()
}

#[test]
fn samples_read_whole() {
    compare("opencode-1.1.53", "opencode", opencode_tree);
    compare("opencode-1.18.33", "opencode", opencode_rows);
    compare("goose-1.52.0", "goose", goose);
}
