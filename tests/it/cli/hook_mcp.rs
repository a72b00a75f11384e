//! `hook` notes what is cut of the results of MCP servers, from inputs as the agents sent them in runs.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::common::home::Home;

use super::hook::{ask, build, merged, note, note_of_build, with_few_files};

/// 1,449 lines with an error in line 1,120: a result that agents cut only after their hook.
fn result() -> String {
    let line = |n: u32| match n {
        1_120 => "error[E0308]: mismatched types\n".to_owned(),
        _ => format!("line {n} of a long build which says nothing much at all\n"),
    };
    (1..=1_449).map(line).collect()
}

fn part(text: &str) -> Value {
    json!([{ "type": "text", "text": text }])
}

/// An event after a tool of an MCP server.
fn after(records: &Path, response: &Value) -> Value {
    json!({
        "session_id": "s", "transcript_path": records, "cwd": "/work", "permission_mode": "default",
        "effort": { "level": "medium" }, "hook_event_name": "PostToolUse", "tool_name": "mcp__big__mid", "tool_input": {},
        "tool_response": response, "tool_use_id": "toolu_0000", "duration_ms": 92,
        "mcp_server": { "name": "big", "source": "dynamic" },
    })
}

fn is_silent(home: &Home, agent: &str, response: &Value) {
    assert_eq!(ask(home, agent, &after(Path::new("/none"), response)).text(), "", "{agent}");
}

/// Writes a file beside the working directory, with its directories.
fn saved(home: &Home, path: &str, text: &str) -> PathBuf {
    let path = home.work().with_file_name(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, text).unwrap();
    path
}

/// Claude Code cuts the JSON of the result once the hook has run, unless the server has raised the limit of the tool.
#[test]
fn counts_claude_code_lines_in_its_preview_of_the_json() {
    let home = Home::new();
    let quotes = format!("\"\u{1}\" \\ € 😀\n{}", result());
    for (text, all, error) in [(result(), "1,449", "1,120"), (quotes, "1,450", "1,121")] {
        let json = serde_json::to_string_pretty(&part(&text)).unwrap();
        let preview: Vec<u16> = json.encode_utf16().take(2000).collect();
        let (_, inside) = String::from_utf16(&preview)
            .unwrap()
            .split_once("\"text\": \"")
            .map(|(a, b)| (a.len(), b.to_owned()))
            .unwrap();
        let got = inside.matches("\\n").count() + usize::from(!inside.ends_with("\\n"));
        let said = note(&home, "claude-code", &after(Path::new("/none"), &part(&text)));
        let start =
            format!("overspill: if only a preview of this result reached you, you got {got} of {all} lines");
        let end = format!(
            "You got none of its 1 error:\nline {error}: error[E0308]: mismatched types\nThe preview names the file with the \
             whole result. It is JSON; the lines are those of the text in it."
        );
        assert!(said.starts_with(&start) && said.ends_with(&end), "{got} {said}");
    }
    // None of these is cut so.
    let image = json!({ "type": "image", "source": { "type": "base64", "media_type": "image/png", "data": "iVBORw0=" } });
    is_silent(&home, "claude-code", &part(&result()[..49_500]));
    is_silent(&home, "claude-code", &json!([part(&result())[0], image]));
    is_silent(&home, "claude-code", &part("small"));
    is_silent(&home, "gemini-cli", &json!({ "llmContent": part(&result()) }));
}

#[test]
fn reads_the_file_that_claude_code_names_for_a_too_long_result() {
    let home = Home::new();
    let file = saved(
        &home,
        "work/.claude/projects/p/s/tool-results/mcp-big-whole-1795616656988-g3rpzx.txt",
        &build(),
    );
    let told = |form: &str| {
        json!(format!(
            "Error: result (309,460 characters across 5,449 lines) exceeds maximum allowed tokens. Output has been saved to \
             {}.\nFormat: {form}\nUse offset and limit parameters to read specific portions of the file, search within it for \
             specific content, and jq to make structured queries.\n",
            file.display()
        ))
    };
    let records = home.work().join(".claude/projects/p/s.jsonl");
    let input = after(&records, &told("Plain text"));
    assert_eq!(note(&home, "claude-code", &input), note_of_build(0, &file));
    let replacing = home.pipe(input.to_string(), &["hook", "claude-code", "--replace"]).ok();
    assert!(replacing.text().contains("additionalContext"), "its text is not replaced: {}", replacing.text());
    let in_json = after(&records, &told("JSON array with schema: [{type: string, text: string}]"));
    assert_eq!(
        ask(&home, "claude-code", &in_json).text(),
        "",
        "the lines of the file are not those of the text"
    );
    assert_eq!(ask(&home, "claude-code", &after(Path::new("/none"), &told("Plain text"))).text(), "");
    let quoted = format!(
        "<persisted-output>\nOutput too large (302.2KB). Full output saved to: {}\n\nPreview (first 2KB):\nline 1\n</persisted-output>",
        file.display()
    );
    assert_eq!(ask(&home, "claude-code", &after(&records, &part(&quoted))).text(), "", "of another output");
}

/// Its limit depends on the model and on the user's settings.
#[test]
fn codex_notes_name_errors_in_the_omitted_middle() {
    let home = Home::new();
    let content = |text: &str| json!({ "content": part(text), "isError": false });
    let said = note(&home, "codex", &after(Path::new("/none"), &content(&build())));
    let expected = "overspill: this result has 5,449 lines, 302.2 KB. What is over the agent's limit was taken out of its \
                    middle, and the agent keeps no copy. In its middle it has 1 error:\nline 3,120: error[E0308]: mismatched types";
    assert_eq!(said, expected);
    let said = note(&home, "codex", &after(Path::new("/none"), &content(&result())));
    assert!(said.ends_with("the agent keeps no copy."), "the error is in the last 24,000 bytes: {said}");
    is_silent(&home, "codex", &content(&build()[..48_000]));
    let mut structured = content(&build());
    structured["structuredContent"] = json!({ "log": build() });
    is_silent(&home, "codex", &structured);
}

/// Four texts as a server sent them to Codex 0.169.0: 400 lines each, with errors in the first and in the last two.
fn texts() -> Vec<Value> {
    let line = |text: usize, line: usize| match (text, line) {
        (0, 5) | (2, 200) | (3, 7) => format!("error[E0308]: mismatched types {text}\n"),
        _ => format!("text {text} line {line} of a long build which says nothing\n"),
    };
    let text = |text: usize| (0..400).map(|number| line(text, number)).collect::<String>();
    // Every other one does not end its last line.
    (0..4).map(|number| part(text(number).trim_end_matches(['x', '\n'][number % 2]))[0].clone()).collect()
}

/// It keeps the first texts, cuts the one that is over its limit, and leaves out the others.
#[test]
fn codex_notes_name_errors_in_omitted_texts() {
    let home = Home::new();
    let image = json!({ "type": "image", "data": "iVBORw0=", "mimeType": "image/png" });
    let mut with_image = texts();
    with_image.insert(1, image);
    let expected = "overspill: this result has 1,600 lines, 79.2 KB, in 4 texts. What is over the agent's limit was left out, from \
                    the middle of a text or from its start on, with all texts after it. The agent keeps no copy. What was left out has 2 errors:\n\
                    line 1,001: error[E0308]: mismatched types 2\nline 1,208: error[E0308]: mismatched types 3";
    for content in [texts(), with_image] {
        let said = note(&home, "codex", &after(Path::new("/none"), &json!({ "content": content })));
        assert_eq!(said, expected);
    }
    is_silent(&home, "codex", &json!({ "content": texts()[..2] }));
    let mut with_link = texts();
    with_link.push(json!({ "type": "resource_link", "uri": "file:///a", "name": "a" }));
    is_silent(&home, "codex", &json!({ "content": with_link }));
}

/// It joins the texts by line feeds, with an empty one for a picture, and saves and previews what that gives.
#[test]
fn counts_several_qwen_code_texts_as_one() {
    let home = Home::new();
    let image = json!({ "inlineData": { "mimeType": "image/png", "data": "iVBORw0=" } });
    let of = |value: &Value| json!({ "text": value["text"] });
    let texts = texts();
    let parts = json!([of(&texts[0]), of(&texts[1]), image, of(&texts[2]), of(&texts[3])]);
    let said = note(&home, "qwen-code", &after(Path::new("/none"), &json!({ "llmContent": parts })));
    let joined =
        [0, 1, 4, 2, 3].map(|number| texts.get(number).map_or("", |text| text["text"].as_str().unwrap()));
    let joined = joined.join("\n");
    let line = |number: usize| {
        joined.lines().position(|line| line.ends_with(&format!("types {number}"))).unwrap() + 1
    };
    let got = joined[..joined[..2_000].rfind('\n').unwrap()].lines().count();
    assert_eq!((joined.lines().count(), line(2), line(3)), (1_603, 1_003, 1_211));
    let expected = format!(
        "overspill: if only a preview of this result reached you, you got {got} of 1,603 lines of this output (79.2 KB in all). \
         You did not get 2 of its 3 errors:\nline 1,003: error[E0308]: mismatched types 2\nline 1,211: error[E0308]: \
         mismatched types 3\nThe preview names the file with the whole result."
    );
    assert_eq!(said, expected);
    // It takes this for a text that it has cut.
    let quoted = format!("{joined}\n... [CONTENT TRUNCATED] ...\n");
    is_silent(&home, "qwen-code", &json!({ "llmContent": [{ "text": quoted }, { "text": "more" }] }));
    let quoted = format!("<persisted-output>\n{joined}");
    is_silent(&home, "qwen-code", &json!({ "llmContent": [{ "text": quoted }] }));
}

/// Texts of lines of 30 bytes, of which every tenth text begins with an error.
fn short_texts(count: usize, lines: usize) -> Vec<Value> {
    let text = |number: usize| {
        let first =
            if number % 10 == 9 { format!("error: {number:022}\n") } else { format!("{number:029}\n") };
        part(&(first + &format!("{:029}\n", 0).repeat(lines - 1)))[0].clone()
    };
    (0..count).map(text).collect()
}

#[test]
fn hundreds_of_short_texts_are_read() {
    let home = Home::new();
    let [cut, whole] = [short_texts(300, 30), short_texts(50, 30)];
    let content = |texts: &[Value]| json!({ "content": texts });
    let said = note(&home, "codex", &after(Path::new("/none"), &content(&cut)));
    let expected = "overspill: this result has 9,000 lines, 263.7 KB, in 300 texts. What is over the agent's limit was left out, \
                    from the middle of a text or from its start on, with all texts after it. The agent keeps no copy. What was \
                    left out has 25 errors:\nline 1,771: error: 0000000000000000000059\n";
    assert!(said.starts_with(expected), "{said}");
    is_silent(&home, "codex", &content(&whole));
    let of = |texts: &[Value]| {
        let parts: Vec<Value> = texts.iter().map(|text| json!({ "text": text["text"] })).collect();
        json!({ "llmContent": parts })
    };
    let said = note(&home, "qwen-code", &after(Path::new("/none"), &of(&cut)));
    let expected = "overspill: if only a preview of this result reached you, you got 68 of 9,299 lines of this output (264 KB in \
                    all). You got none of its 30 errors:\nline 280: error: 0000000000000000000009\n";
    assert!(said.starts_with(expected), "{said}");
    is_silent(&home, "qwen-code", &of(&whole[..30]));
    for agent in ["claude-code", "gemini-cli"] {
        is_silent(&home, agent, &json!(cut));
    }
}

/// All of them are in one temporary file, however many there are.
#[test]
fn hundreds_of_long_texts_need_few_files() {
    let home = Home::new();
    let content = json!({ "content": short_texts(400, 100) });
    let answer = with_few_files(&home, "codex", &after(Path::new("/none"), &content));
    let said = "overspill: this result has 40,000 lines, 1.1 MB, in 400 texts.";
    assert!(answer.contains(said) && answer.contains("What was left out has 39 errors:"), "{answer}");
}

#[test]
fn counts_qwen_code_lines_in_both_forms_of_preview() {
    let home = Home::new();
    let said =
        note(&home, "qwen-code", &after(Path::new("/none"), &json!({ "llmContent": part(&result()) })));
    let expected = "overspill: if only a preview of this result reached you, you got 36 of 1,449 lines of this output (79.6 KB \
                    in all). You got none of its 1 error:\nline 1,120: error[E0308]: mismatched types\nThe preview names the \
                    file with the whole result.";
    assert_eq!(said, expected);
    is_silent(&home, "qwen-code", &json!({ "llmContent": part(&result()[..28_000]) }));
    // Over 500,000 characters it cuts before the hook.
    let file = saved(&home, "home/.qwen/tmp/0a1b/mcp__big__huge_643a4e02fb8e.output", &build());
    let lines: Vec<String> = build().split_inclusive('\n').map(str::to_owned).collect();
    let text = format!(
        "Tool output was too large and has been truncated.\nThe full output has been saved to: {}\nTo read the complete output, \
         use the read_file tool with the absolute file path above.\nThe truncated output below shows the beginning and end of the \
         content. The marker '... [CONTENT TRUNCATED] ...' indicates where content was removed.\n\nTruncated part of the \
         output:\n{}\n---\n... [CONTENT TRUNCATED] ...\n---\n\n{}",
        file.display(),
        lines[..7].concat(),
        lines[5_420..].concat()
    );
    let huge =
        after(Path::new("/none"), &json!({ "llmContent": [{ "text": text }], "returnDisplay": build() }));
    assert_eq!(note(&home, "qwen-code", &huge), note_of_build(36, &file));
}

/// It joins the texts by empty lines, and keeps the start of what that gives, with the note before it.
#[test]
fn the_opencode_line_count_allows_for_the_note_itself() {
    let home = Home::new();
    let event = |content: &Value| {
        json!({ "hook_event_name": "tool.execute.after", "tool_name": "big_whole", "tool_input": {},
            "tool_response": { "content": content } })
    };
    let text = texts().into_iter().map(|part| part["text"].as_str().unwrap().to_owned()).collect::<Vec<_>>();
    let resource = |text: &str| json!({ "uri": "file:///a", "mimeType": "text/plain", "text": text });
    let mut mixed = texts();
    mixed[2] = json!({ "type": "resource", "resource": resource(&text[2]) });
    mixed.insert(1, json!({ "type": "image", "data": "iVBORw0=", "mimeType": "image/png" }));
    mixed.push(json!({ "type": "resource_link", "uri": "file:///b", "name": "b" }));
    mixed.push(json!({ "type": "resource", "resource": resource("") }));
    let short = "x\n".repeat(3_000);
    // The note's own lines take the first error from what is kept.
    let near = |n: u32| if [1_998, 2_500].contains(&n) { "error: x\n" } else { "x\n" };
    let near: String = (1..=3_000).map(near).collect();
    for (content, joined) in [
        (part(&build()), build()),
        (json!(texts()), text.join("\n\n")),
        (json!(mixed), text.join("\n\n")),
        (part(&short), short),
        (part(&near), near),
    ] {
        let said = note(&home, "opencode", &event(&content));
        let result = format!("{said}\n\n{joined}");
        let mut room = 51_200;
        let fits = |line: &&str| {
            let fits = line.len() <= room;
            room = room.saturating_sub(line.len() + 1);
            fits
        };
        let kept = result.split('\n').take(2_000).take_while(fits).count();
        let got = kept - said.lines().count() - 1;
        let lines: Vec<&str> = joined.lines().collect();
        let [few, all] = [got, lines.len()].map(thousands);
        let start = format!("overspill: you got {few} of {all} lines of this output (");
        assert!(said.starts_with(&start), "{start} {said}");
        let lost = lines.iter().enumerate().skip(got).filter(|(_, line)| line.starts_with("error"));
        let lost: String = lost.map(|(n, line)| format!("line {}: {line}\n", thousands(n + 1))).collect();
        let place = "The end of this result names the file with the whole output. The file begins with this note; the lines are \
                     counted after it.";
        assert!(said.ends_with(&format!("\n{lost}{place}")), "{lost} {said}");
    }
    let blob = json!({ "uri": "file:///a", "mimeType": "application/zip", "blob": "UEs=" });
    mixed[2] = json!({ "type": "resource", "resource": blob });
    for content in [part(&result()[..51_200]), json!(mixed)] {
        assert_eq!(ask(&home, "opencode", &event(&content)).text(), "");
    }
}

fn thousands(number: usize) -> String {
    match number {
        0..1_000 => number.to_string(),
        _ => format!("{},{:03}", number / 1_000, number % 1_000),
    }
}

#[test]
fn does_not_count_lines_that_copilot_cli_rewrote() {
    let home = Home::new();
    let name = "tmp/1795616893116-copilot-tool-output-ad97b2f0266c4c7096f4016b62de2cee.txt";
    let note_of = |file: &Path, shown: &str| {
        let text = format!(
            "Output too large to read at once (302.2 KB). Saved to: {}\nConsider using tools like grep (for searching), \
             head/tail (for viewing start/end), view with view_range (for specific sections), or jq (for JSON) to examine \
             portions of the output.\n\nPreview (first 500 chars):\n{shown}",
            file.display()
        );
        let result = json!({ "resultType": "success", "textResultForLlm": text });
        let input = json!({ "sessionId": "s", "timestamp": 1_795_616_893_116_u64, "cwd": "/work", "toolName": "big-whole",
            "toolArgs": {}, "toolResult": result });
        ask(&home, "copilot-cli", &input).json()["additionalContext"].as_str().unwrap().to_owned()
    };
    let file = saved(&home, name, &build());
    assert_eq!(note_of(&file, &build()[..500]), note_of_build(10, &file));
    // It saves JSON with a line for each value, and shows it without.
    let json = json!({ "log": build().lines().collect::<Vec<_>>() });
    let file = saved(&home, name, &serde_json::to_string_pretty(&json).unwrap());
    let place =
        format!("overspill: you did not get all of this output.\nThe whole output is in {}", file.display());
    assert_eq!(note_of(&file, &json.to_string()[..500]), place);
}

#[test]
fn an_event_of_another_tool_is_left_alone() {
    let home = Home::new();
    let read = merged(after(Path::new("/none"), &part(&result())), json!({ "tool_name": "Read" }));
    for agent in ["claude-code", "codex", "qwen-code"] {
        assert_eq!(ask(&home, agent, &read).text(), "", "{agent}");
    }
}
