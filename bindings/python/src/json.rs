//! Values of Python to JSON and back, with Python's own module.

use pyo3::prelude::*;
use pyo3::types::PyDict;

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
