//! Finds the tool calls and results of an entry without building its view.

use boswell_model::json::{Object, RawKind};
use boswell_model::{Interner, ToolLink};

use super::js_values::pick;

/// Passes the calls of a message to `sink`, then the call that it answers: the same links as from
/// its view.
pub(super) fn pairs(entry: &Object<'_>, names: &mut Interner, sink: &mut dyn FnMut(ToolLink)) {
    if !entry.get("type").is_some_and(|word| word.is("message")) {
        return;
    }
    let Some(message) = entry
        .get("message")
        .filter(|message| message.kind() == RawKind::Object)
    else {
        return;
    };
    let [role, content, answers] = pick(message, ["role", "content", "toolCallId"]);
    for part in content.into_iter().flat_map(|content| content.items()) {
        let [word, id] = pick(part, ["type", "id"]);
        if word.is_some_and(|word| word.is("toolCall")) {
            let id = id.and_then(|id| id.text()).unwrap_or_default();
            names
                .intern(&id)
                .map(ToolLink::Call)
                .into_iter()
                .for_each(&mut *sink);
        }
    }
    if role.is_some_and(|role| role.is("toolResult")) {
        let call = answers.and_then(|call| call.text()).unwrap_or_default();
        names
            .intern(&call)
            .map(ToolLink::Answer)
            .into_iter()
            .for_each(sink);
    }
}

#[cfg(test)]
mod tests {
    use boswell_model::json::scan_object;
    use boswell_model::{Head, Span, SpanKind};

    use super::super::{Pi, head, view};
    use super::*;
    use crate::may_pair;

    /// Returns the links from the record's view, as dialects without a faster way compute them.
    fn by_view(object: &Object<'_>) -> Vec<String> {
        let view = view::view(object);
        let calls = view.calls().map(|(id, _, _)| format!("calls {id}"));
        calls
            .chain(view.results().map(|id| format!("answers {id}")))
            .collect()
    }

    fn by_pairs(object: &Object<'_>) -> Vec<String> {
        let mut names = Interner::default();
        let mut found = Vec::new();
        crate::Repairer::tool_links(&Pi::PI, object, &mut names, &mut |pair| found.push(pair));
        let told = |pair: &ToolLink| match pair {
            ToolLink::Call(id) => format!("calls {}", names.text(*id)),
            ToolLink::Answer(id) => format!("answers {}", names.text(*id)),
        };
        found.iter().map(told).collect()
    }

    fn kind(object: &Object<'_>) -> boswell_model::EntryKind {
        let span = Span {
            at: 0,
            len: 0,
            line: 1,
            kind: SpanKind::Record {
                nth: 0,
                bad_utf8: false,
                salvaged: false,
            },
        };
        let mut filled = Head::of(&span);
        head::head(object, &mut filled, &mut Interner::default());
        filled.kind
    }

    #[test]
    fn every_call_and_answer_that_a_view_tells_is_found_without_it() {
        let contents = [
            r#""text""#,
            "null",
            "7",
            "[]",
            r#"[{"type":"text","text":"x"},{"type":"toolCall","id":"c1","name":"bash","arguments":{"type":"toolCall","id":"no"}}]"#,
            r#"[{"type":"toolCall","name":"nameless"},{"type":"toolCall","id":7},{"id":"c0","type":"toolCall","id":"c2"}]"#,
            r#"["toolCall",{"type":"thinking","thinking":"toolCall"},{"type":"image","data":"x"},{"type":"\u0074oolCall","id":"c\u0033"}]"#,
        ];
        let mut told = 0;
        for role in ["user", "assistant", "toolResult"] {
            for content in contents {
                for extra in ["", r#","toolCallId":"c9""#, r#","toolCallId":null"#] {
                    let line = format!(
                        r#"{{"type":"message","id":"1","message":{{"role":"{role}","content":{content}{extra}}}}}"#
                    );
                    let mut members = Vec::new();
                    scan_object(line.as_bytes(), &mut members).unwrap();
                    let object = Object::new(line.as_bytes(), &members);
                    assert!(may_pair(kind(&object)), "{line}");
                    assert_eq!(by_pairs(&object), by_view(&object), "{line}");
                    told += by_pairs(&object).len();
                }
            }
        }
        assert!(told > 50, "{told}");
    }
}
