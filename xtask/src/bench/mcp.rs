//! `boswell mcp` for an agent that looks for a fact: how soon the server answers, and what the way
//! from the search over the outline to the place costs in time and in tokens.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use boswell_testkit::bench_corpus::RARE;
use serde_json::{Value, json};

use super::find::Bed;
use super::group::Group;
use super::lab::{Lab, median};
use super::table::{self, Row, Target};
use crate::Outcome;

/// From the start of the process to the answer to the first request.
const START: Duration = Duration::from_millis(15);
/// The three calls together.
const CALLS: Duration = Duration::from_millis(150);
const TOKENS: usize = 3_000;
const LIST_TOKENS: usize = 1_800;

pub(crate) struct McpGroup;

impl Group for McpGroup {
    fn name(&self) -> &'static str {
        "mcp"
    }

    fn about(&self) -> &'static str {
        "`boswell mcp` over 10,000 Claude sessions (1 GB) with a warm catalog and index, each time as a new process, beside its budgets: the answer to the first request, the list of tools, and finding a rare word (search, outline, read around: calls and answers in their default sizes); a token is four bytes, or one Chinese character"
    }

    fn measure(&self, lab: &Lab) -> Outcome<Vec<Row>> {
        let bed = Bed::make(lab)?;
        let (mut starts, mut calls) = (Vec::new(), Vec::new());
        // Tokens are counted, not measured, so that the most of all runs has to be in the budget.
        let (mut listed, mut cost) = (0, 0);
        for _ in 0..lab.repeats.max(9) {
            let begun = Instant::now();
            let mut asker = Asker::start(lab, &bed)?;
            starts.push(begun.elapsed().as_secs_f64());
            listed = tokens(&asker.ask("tools/list", &json!({}))?.to_string());
            let (time, spent) = asker.find(RARE)?;
            calls.push(time.as_secs_f64());
            cost = cost.max(spent);
            asker.end()?;
        }
        Ok(vec![
            time_row("first answer", median(&mut starts), START),
            token_row("list of tools", listed, LIST_TOKENS),
            time_row("finding a rare word", median(&mut calls), CALLS),
            token_row("finding a rare word", cost, TOKENS),
        ])
    }
}

fn time_row(case: &str, spent: f64, allowed: Duration) -> Row {
    Row {
        case: format!("{case}, time"),
        ours: table::seconds(spent),
        baseline: format!("allowed {}", table::seconds(allowed.as_secs_f64())),
        ratio: spent / allowed.as_secs_f64(),
        target: Some(Target::AtMost(1.0)),
    }
}

fn token_row(case: &str, spent: usize, allowed: usize) -> Row {
    Row {
        case: format!("{case}, tokens"),
        ours: spent.to_string(),
        baseline: format!("allowed {allowed}"),
        ratio: spent as f64 / allowed as f64,
        target: Some(Target::AtMost(1.0)),
    }
}

/// Four bytes are a token, or one character of Chinese, Japanese or Korean.
fn tokens(text: &str) -> usize {
    let is_wide = |c: char| ('\u{2E80}'..='\u{D7FF}').contains(&c);
    let quarters = text
        .chars()
        .map(|c| if is_wide(c) { 4 } else { c.len_utf8() });
    quarters.sum::<usize>().div_ceil(4)
}

/// A client of one server.
struct Asker {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    next: u64,
}

impl Asker {
    /// Starts a server, and waits for its first answer.
    fn start(lab: &Lab, bed: &Bed) -> Outcome<Asker> {
        let mut child = Command::new(lab.release().join("boswell"))
            .arg("mcp")
            .arg("--store")
            .arg(format!("claude={}", bed.root.display()))
            .env("BOSWELL_HOME", &bed.home)
            .env("HOME", &bed.home)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let streams = child.stdin.take().zip(child.stdout.take());
        let (input, output) = streams.ok_or("the server has no streams")?;
        let mut asker = Asker {
            child,
            input,
            output: BufReader::new(output),
            next: 0,
        };
        let hello = json!({
            "protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": {"name": "bench", "version": "1"},
        });
        asker.ask("initialize", &hello)?;
        let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        writeln!(asker.input, "{ready}")?;
        Ok(asker)
    }

    fn ask(&mut self, method: &str, params: &Value) -> Outcome<Value> {
        self.next += 1;
        let request =
            json!({"jsonrpc": "2.0", "id": self.next, "method": method, "params": params});
        writeln!(self.input, "{request}")?;
        loop {
            let mut line = String::new();
            if self.output.read_line(&mut line)? == 0 {
                return Err("the server ended".into());
            }
            let message: Value = serde_json::from_str(&line)?;
            if message["id"] == self.next {
                return Ok(message["result"].clone());
            }
        }
    }

    fn call(&mut self, tool: &str, arguments: &Value) -> Outcome<String> {
        let result = self.ask("tools/call", &json!({"name": tool, "arguments": arguments}))?;
        let text = result["content"][0]["text"].as_str();
        match text.filter(|_| result["isError"] != true) {
            Some(text) => Ok(text.to_owned()),
            None => Err(format!("{tool} {arguments}: {result}").into()),
        }
    }

    /// Looks for a word as an agent does, with the default size of every answer. Returns how long
    /// it took, and what the calls and their answers cost together.
    fn find(&mut self, word: &str) -> Outcome<(Duration, usize)> {
        let begun = Instant::now();
        let query = json!({"query": word});
        let found = self.call("search_sessions", &query)?;
        let (session, entry) = cited(&found).ok_or_else(|| format!("{word}: {found}"))?;
        let whole = json!({"session": session});
        let outline = self.call("outline_session", &whole)?;
        let place = json!({"session": session, "around": entry});
        let read = self.call("read_session", &place)?;
        let time = begun.elapsed();
        if !read.contains(word) {
            return Err(format!("{word} is not around {session}#{entry}: {read}").into());
        }
        let asked = [query, whole, place].map(|arguments| tokens(&arguments.to_string()));
        let answered = [found, outline, read].map(|answer| tokens(&answer));
        Ok((time, asked.into_iter().chain(answered).sum()))
    }

    /// Closes the input, which ends the server.
    fn end(self) -> Outcome {
        let Asker {
            mut child, input, ..
        } = self;
        drop(input);
        match child.wait()?.success() {
            true => Ok(()),
            false => Err("the server failed".into()),
        }
    }
}

/// Returns the first `REF#ENTRY` of an answer.
fn cited(answer: &str) -> Option<(&str, &str)> {
    let mut words = answer.split_whitespace();
    words.find_map(|word| word.split_once('#').filter(|(name, _)| name.contains(':')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn citations_and_tokens_are_counted() {
        let answer = "Quoted\n--- k7 hits\nclaude:ab#12-e4 · prompt · 3 d ago\n";
        assert_eq!(cited(answer), Some(("claude:ab", "12-e4")));
        assert_eq!(cited("nothing was found"), None);
        assert_eq!(tokens("abcdefgh会"), 3);
    }
}
