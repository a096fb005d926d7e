//! Messages and their parts, to and from Python dictionaries.
//!
//! What `Session.messages` returns can be appended again.

use boswell_store::model::Usage;
use boswell_store::writer::{AssistantMessage, MediaSource, ToolInput};
use boswell_store::{Body, ChatMessage, Part, Role};
use pyo3::conversion::FromPyObjectOwned;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString};

use crate::error::invalid;

const PART_HINT: &str = "a part is {\"type\": \"text\", \"text\": …}, or of the type `thinking`, \
                         `tool_call` or `image`; see docs/python.md";

/// Reads a message: a dictionary with `role` and `content`.
pub(crate) fn body(message: &Bound<'_, PyDict>) -> PyResult<Body> {
    let py = message.py();
    let role: String = required(message, "role")?;
    let content = match message.get_item("content")? {
        Some(content) => parts(&content)?,
        None => Vec::new(),
    };
    match role.as_str() {
        "user" => Ok(Body::User(content)),
        "assistant" => Ok(Body::Assistant(Box::new(AssistantMessage {
            content,
            provider: optional(message, "provider")?,
            model: optional(message, "model")?,
            usage: usage(message)?,
            stop_reason: optional(message, "stop_reason")?,
            error: optional(message, "error")?,
        }))),
        "tool" => Ok(Body::ToolResult {
            call: required(message, "call")?,
            tool: optional(message, "tool")?.unwrap_or_default(),
            content,
            is_error: optional(message, "is_error")?.unwrap_or(false),
        }),
        // The format has no system messages: a prompt of the system is text of an extension that
        // the model sees.
        "system" => Ok(Body::CustomMessage {
            kind: "system".to_owned(),
            content,
            display: false,
        }),
        other => Err(invalid(
            py,
            format!("`{}` is not a role", other.escape_debug()),
            "a role is user, assistant, tool or system; any other record needs a `type`",
        )),
    }
}

fn usage(message: &Bound<'_, PyDict>) -> PyResult<Usage> {
    let Some(given) = optional::<Bound<'_, PyDict>>(message, "usage")? else {
        return Ok(Usage::default());
    };
    Ok(Usage {
        input: optional(&given, "input")?,
        output: optional(&given, "output")?,
        cache_read: optional(&given, "cache_read")?,
        cache_write: optional(&given, "cache_write")?,
        reasoning: optional(&given, "reasoning")?,
        cost: optional(&given, "cost")?,
        ..Usage::default()
    })
}

fn parts(content: &Bound<'_, PyAny>) -> PyResult<Vec<Part>> {
    if let Ok(text) = content.extract::<String>() {
        return Ok(vec![Part::Text(text)]);
    }
    let mut parts = Vec::new();
    for item in content.try_iter()? {
        parts.push(part(&item?)?);
    }
    Ok(parts)
}

fn part(item: &Bound<'_, PyAny>) -> PyResult<Part> {
    let py = item.py();
    let unknown = || invalid(py, "a part of a message is not known", PART_HINT);
    if let Ok(text) = item.extract::<String>() {
        return Ok(Part::Text(text));
    }
    let item = item.cast::<PyDict>().map_err(|_| unknown())?;
    let word: String = required(item, "type")?;
    Ok(match word.as_str() {
        "text" => Part::Text(required(item, "text")?),
        "thinking" => Part::Thinking {
            text: required(item, "text")?,
            signature: optional(item, "signature")?,
        },
        "tool_call" => Part::Call {
            id: required(item, "id")?,
            name: required(item, "name")?,
            input: input(item)?,
        },
        "image" => Part::Media {
            mime: Some(required(item, "mime")?),
            source: MediaSource::Inline(required(item, "data")?),
        },
        _ => return Err(unknown()),
    })
}

/// Arguments of a call: text stays as it is, everything else becomes JSON.
fn input(item: &Bound<'_, PyDict>) -> PyResult<ToolInput> {
    match item.get_item("arguments")? {
        None => Ok(ToolInput::default()),
        Some(text) if text.is_instance_of::<PyString>() => Ok(text.extract::<String>()?.into()),
        Some(value) => Ok(json_text(&value)?.into()),
    }
}

/// Prints a value as JSON on one line.
pub(crate) fn json_text(value: &Bound<'_, PyAny>) -> PyResult<String> {
    let py = value.py();
    let print = |only_ascii: bool| -> PyResult<Bound<'_, PyAny>> {
        let options = PyDict::new(py);
        options.set_item("separators", (",", ":"))?;
        options.set_item("allow_nan", false)?;
        options.set_item("ensure_ascii", only_ascii)?;
        py.import("json")?
            .call_method("dumps", (value,), Some(&options))
    };
    // Text with lone surrogates is not UTF-8: its JSON has to escape them.
    print(false)?
        .extract::<String>()
        .or_else(|_| print(true)?.extract())
}

/// Parses JSON.
pub(crate) fn json_value<'py>(py: Python<'py>, text: &str) -> PyResult<Bound<'py, PyAny>> {
    py.import("json")?.call_method1("loads", (text,))
}

fn required<'py, T>(from: &Bound<'py, PyDict>, key: &str) -> PyResult<T>
where
    T: FromPyObjectOwned<'py>,
{
    optional(from, key)?.ok_or_else(|| {
        invalid(
            from.py(),
            format!("`{key}` is missing, or is not of its type"),
            PART_HINT,
        )
    })
}

/// Returns a member; none if it is missing or `None`.
fn optional<'py, T>(from: &Bound<'py, PyDict>, key: &str) -> PyResult<Option<T>>
where
    T: FromPyObjectOwned<'py>,
{
    match from.get_item(key)? {
        Some(value) if !value.is_none() => match value.extract::<T>() {
            Ok(value) => Ok(Some(value)),
            Err(_) => Err(invalid(
                from.py(),
                format!("`{key}` of a message or a part has another type"),
                PART_HINT,
            )),
        },
        _ => Ok(None),
    }
}

/// Makes the dictionary of a message.
pub(crate) fn dictionary<'py>(
    py: Python<'py>,
    message: &ChatMessage,
) -> PyResult<Bound<'py, PyDict>> {
    let made = PyDict::new(py);
    match &message.role {
        Role::System => made.set_item("role", "system")?,
        Role::User => made.set_item("role", "user")?,
        Role::Assistant => made.set_item("role", "assistant")?,
        Role::Tool {
            call,
            tool,
            is_error,
        } => {
            made.set_item("role", "tool")?;
            made.set_item("call", call)?;
            made.set_item("tool", tool)?;
            made.set_item("is_error", is_error)?;
        }
        _ => made.set_item("role", "unknown")?,
    }
    let parts = PyList::empty(py);
    for part in &message.parts {
        parts.append(part_dictionary(py, part)?)?;
    }
    made.set_item("content", parts)?;
    Ok(made)
}

fn part_dictionary<'py>(py: Python<'py>, part: &Part) -> PyResult<Bound<'py, PyDict>> {
    let made = PyDict::new(py);
    match part {
        Part::Text(text) => {
            made.set_item("type", "text")?;
            made.set_item("text", text)?;
        }
        Part::Thinking { text, signature } => {
            made.set_item("type", "thinking")?;
            made.set_item("text", text)?;
            made.set_item("signature", signature.as_deref())?;
        }
        Part::Call { id, name, input } => {
            made.set_item("type", "tool_call")?;
            made.set_item("id", id)?;
            made.set_item("name", name)?;
            // Arguments that a model was interrupted in are not JSON, and stay text.
            match json_value(py, input.text()) {
                Ok(value) => made.set_item("arguments", value)?,
                Err(_) => made.set_item("arguments", input.text())?,
            }
        }
        Part::Result {
            call,
            text,
            is_error,
        } => {
            made.set_item("type", "tool_result")?;
            made.set_item("call", call)?;
            made.set_item("text", text)?;
            made.set_item("is_error", is_error)?;
        }
        Part::Media { mime, source } => {
            made.set_item("type", "image")?;
            made.set_item("mime", mime.as_deref())?;
            match source {
                MediaSource::Inline(data) => made.set_item("data", data)?,
                MediaSource::Reference(reference) => made.set_item("reference", reference)?,
            }
        }
        Part::Other { word, json } => {
            made.set_item("type", word)?;
            made.set_item("json", json)?;
        }
        _ => made.set_item("type", "unknown")?,
    }
    Ok(made)
}
