//! Finds the records of a damaged log without boswell's own code: a repair must not lose any of
//! them.

use serde_json::Value;

/// Returns every object at the start of a line, directly after a record, or after NULs or garbage
/// if `is_record` accepts it.
///
/// Lines that are not UTF-8 are omitted: the parser used here rejects them.
pub fn records(log: &[u8], is_record: &dyn Fn(&Value) -> bool) -> Vec<Vec<u8>> {
    let mut found = Vec::new();
    let log = log.strip_prefix(b"\xef\xbb\xbf").unwrap_or(log);
    for line in log.split(|byte| *byte == b'\n') {
        let mut at = 0;
        let mut clean = true;
        while at < line.len() {
            let rest = &line[at..];
            match rest[0] {
                b' ' | b'\t' | b'\r' => at += 1,
                0 => {
                    clean = false;
                    at += 1;
                }
                b'{' => match object(rest) {
                    Some((value, len)) if clean || is_record(&value) => {
                        found.push(rest[..len].to_vec());
                        at += len;
                        clean = true;
                    }
                    Some((_, len)) => at += len,
                    None => {
                        clean = false;
                        at += 1;
                    }
                },
                _ => {
                    clean = false;
                    at += 1;
                }
            }
        }
    }
    found
}

/// Whether a value has the keys of a line of Claude Code's chain.
pub fn is_claude(value: &Value) -> bool {
    let chain = ["user", "assistant", "attachment", "system", "progress"];
    value["type"]
        .as_str()
        .is_some_and(|word| chain.contains(&word))
        && value["uuid"].is_string()
        && value.get("parentUuid").is_some()
}

/// Whether a value has the keys of an entry of the pi family.
pub fn is_pi(value: &Value) -> bool {
    value["type"].is_string() && value["timestamp"].is_string() && value.get("parentId").is_some()
}

fn object(bytes: &[u8]) -> Option<(Value, usize)> {
    let mut values = serde_json::Deserializer::from_slice(bytes).into_iter::<Value>();
    let value = values.next()?.ok().filter(Value::is_object)?;
    Some((value, values.byte_offset()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_found_at_line_starts_behind_records_nuls_and_garbage() {
        let user = r#"{"type":"user","uuid":"u","parentUuid":null}"#;
        let log = format!(
            "{user}{user}\n\0\0{user}\n{{\"torn\":{{\"x\":1}}, {user}\nnonsense {{\"a\":1}}\n"
        );
        let found = records(log.as_bytes(), &is_claude);
        assert_eq!(found, vec![user.as_bytes().to_vec(); 4]);
    }
}
