//! What happens in the repository, step by step.

use super::file::{Stretch, TrackedFile, WORDS};
use super::logs::{Agent, Call, Outcome, Replacement};
use super::world::World;

impl World {
    /// Builds a history of so many steps.
    pub(super) fn live(&mut self, steps: usize) {
        self.file_by_hand();
        self.commit();
        self.new_file();
        for _ in 0..steps {
            match self
                .rng
                .weighted(&[30, 10, 6, 6, 10, 6, 12, 7, 4, 5, 4, 10, 4])
            {
                0 => self.edit(),
                1 => self.rewrite(),
                2 => self.word(),
                3 => self.everywhere(),
                4 => self.hand(),
                5 => self.reformat(),
                6 => self.failure(),
                7 => self.rename(),
                8 => self.new_file(),
                9 => self.echo(),
                10 => self.same_again(),
                11 => self.commit(),
                _ => self.move_by_patch(),
            }
        }
        if self.rng.id_source(0.5) {
            self.commit();
        }
        self.write_files();
    }

    /// A session that may change a file, with a prompt; the file is read where that is needed.
    fn session(&mut self, file: Option<usize>, agents: &[Agent]) -> Option<(usize, usize)> {
        let is_fit = |agent: Agent| {
            // A patch of Codex would add lines with another end.
            let mixes = file.is_some_and(|at| self.files[at].crlf) && agent == Agent::Codex;
            agents.contains(&agent) && !mixes
        };
        let sessions = self.sessions.iter().enumerate();
        let fit: Vec<usize> = sessions
            .filter(|(_, log)| is_fit(log.agent))
            .map(|(at, _)| at)
            .collect();
        if fit.is_empty() {
            return None;
        }
        let session = *self.rng.pick(&fit);
        let at = self.tick();
        let log = &mut self.sessions[session];
        let turn = match log.prompts.len() {
            known if known > 0 && self.rng.id_source(0.5) => known - 1,
            _ => {
                let text = format!("Task {} at {at}: change the program", self.journal.len());
                log.prompt(&text, at)
            }
        };
        Some((session, turn))
    }

    fn a_file(&mut self) -> usize {
        self.rng.below(self.files.len())
    }

    fn do_call(&mut self, session: usize, call: &Call, outcome: Outcome) {
        let at = self.tick();
        self.sessions[session].call(call, outcome, at);
        self.clock = at + 2_000;
    }

    /// Makes a change by a hand visible, as what follows could not be told from it.
    fn show(&mut self, file: usize, session: Option<usize>) {
        if !self.files[file].hidden {
            return;
        }
        match session.filter(|_| self.rng.id_source(0.5)) {
            None => self.commit(),
            Some(session) => {
                let path = self.files[file].path.clone();
                let read = Call::Read {
                    path: self.named(session, &path),
                    content: self.files[file].text(),
                };
                self.do_call(session, &read, Outcome::Done);
                self.note(format!("session {session} reads {path}"));
                self.files[file].hidden = false;
            }
        }
    }

    fn new_file(&mut self) {
        let Some((session, turn)) = self.session(None, &Agent::ALL) else {
            return;
        };
        let path = self.unused_path();
        let lines = self.fresh_lines(6, 30);
        let agent = self.sessions[session].agent;
        let ended = agent == Agent::Codex || self.rng.id_source(0.8);
        let end = if ended { "\n" } else { "" };
        let mut file = TrackedFile {
            path: path.clone(),
            lines: Vec::new(),
            crlf: false,
            ended,
            hidden: false,
        };
        let content = format!("{}{end}", lines.join("\n"));
        file.set(&content, Some((session, turn)));
        let name = self.named(session, &path);
        let call = match agent {
            Agent::Codex => {
                let added: String = lines.iter().map(|line| format!("+{line}\n")).collect();
                Call::Patch {
                    body: format!("*** Add File: {name}\n{added}"),
                    report: vec![format!("A {name}")],
                }
            }
            _ => Call::Write {
                path: name,
                content: file.text(),
                before: None,
            },
        };
        self.do_call(session, &call, Outcome::Done);
        self.note(format!(
            "session {session}.{turn} ({agent:?}) writes {path}"
        ));
        self.files.push(file);
    }

    /// Replaces stretches of lines.
    fn edit(&mut self) {
        let new = self.fresh_lines(0, 4);
        self.edit_to(new);
    }

    /// Adds lines that another file or session has too.
    fn echo(&mut self) {
        let file = self.a_file();
        let lines = &self.files[file].lines;
        let from = self.rng.below(lines.len());
        let some = lines.iter().skip(from).take(2);
        let copied: Vec<String> = some.map(|line| line.text.clone()).collect();
        self.edit_to(copied);
    }

    fn edit_to(&mut self, new: Vec<String>) {
        let file = self.a_file();
        let Some((session, turn)) = self.session(Some(file), &Agent::ALL) else {
            return;
        };
        // Replacements of single texts tell themselves what stands in the file.
        if self.rng.id_source(0.7) {
            self.show(file, Some(session));
        }
        let Some(stretch) = self.files[file].stretch(new, &mut self.rng) else {
            return;
        };
        let agent = self.sessions[session].agent;
        if agent == Agent::Codex {
            return self.patch(file, (session, turn), &[stretch], None);
        }
        let before = self.files[file].clone();
        let mut after = before.clone();
        let mut replacements = vec![before.replacement(&stretch)];
        after.replace(&replacements[0], Some((session, turn)));
        let takes_several = match agent {
            Agent::Claude => true,
            Agent::Pi => !self.sessions[session].old,
            _ => false,
        };
        if takes_several && self.rng.id_source(0.3) {
            let more = self.fresh_lines(1, 3);
            if let Some(next) = after.stretch(more, &mut self.rng) {
                let next = after.replacement(&next);
                // pi looks for all texts before it changes any.
                let is_clear = before.text().matches(&next.old).count() == 1
                    && !overlap(&before.text(), &replacements[0].old, &next.old);
                if agent == Agent::Claude || is_clear {
                    after.replace(&next, Some((session, turn)));
                    replacements.push(next);
                }
            }
        }
        self.put_edit(file, (session, turn), replacements, (before, after));
    }

    fn put_edit(
        &mut self,
        file: usize,
        (session, turn): (usize, usize),
        replacements: Vec<Replacement>,
        (before, after): (TrackedFile, TrackedFile),
    ) {
        let agent = self.sessions[session].agent;
        let texts: Vec<&str> = replacements.iter().map(|it| it.new.as_str()).collect();
        self.note(format!(
            "session {session}.{turn} ({agent:?}) edits {}: {texts:?}",
            before.path
        ));
        let call = Call::Edit {
            path: self.named(session, &before.path),
            replacements,
            before: before.text(),
            after: after.text(),
        };
        self.do_call(session, &call, Outcome::Done);
        self.files[file] = after;
    }

    fn patch(
        &mut self,
        file: usize,
        (session, turn): (usize, usize),
        stretches: &[Stretch],
        moved_to: Option<String>,
    ) {
        let path = self.files[file].path.clone();
        let name = self.named(session, &path);
        let mut body = format!("*** Update File: {name}\n");
        let mut report = format!("M {name}");
        if let Some(to) = &moved_to {
            let to = self.named(session, to);
            body.push_str(&format!("*** Move to: {to}\n"));
            report = format!("M {to}");
        }
        for stretch in stretches {
            let replacement = self.files[file].replacement(stretch);
            body.push_str(&self.files[file].hunk(stretch));
            self.files[file].replace(&replacement, Some((session, turn)));
        }
        // The tool ends the last line.
        self.files[file].ended = true;
        self.note(format!(
            "session {session}.{turn} (Codex) patches {path} {moved_to:?}: {body:?}"
        ));
        let call = Call::Patch {
            body,
            report: vec![report],
        };
        self.do_call(session, &call, Outcome::Done);
        if let Some(to) = moved_to {
            self.files[file].path = to;
        }
    }

    fn move_by_patch(&mut self) {
        let file = self.a_file();
        let new = self.fresh_lines(1, 2);
        let Some((session, turn)) = self.session(Some(file), &[Agent::Codex]) else {
            return;
        };
        self.show(file, Some(session));
        let to = self.unused_path();
        if let Some(stretch) = self.files[file].stretch(new, &mut self.rng) {
            self.patch(file, (session, turn), &[stretch], Some(to));
        }
    }

    /// Writes the whole file.
    fn rewrite(&mut self) {
        let file = self.a_file();
        let agents = [Agent::Claude, Agent::Pi, Agent::Gemini];
        let Some((session, turn)) = self.session(Some(file), &agents) else {
            return;
        };
        self.show(file, Some(session));
        let changes = self.rng.between(1, 8);
        let fresh = self.fresh_lines(changes, changes);
        let before = self.files[file].clone();
        let mut fresh = fresh.into_iter();
        let mut next = || fresh.next().unwrap_or_default();
        let lines = before.shuffled(changes, &mut next, &mut self.rng);
        let end = if self.rng.id_source(0.8) { "\n" } else { "" };
        let text = format!("{}{end}", lines.join("\n"));
        self.put_whole(file, (session, turn), &text);
    }

    /// A session writes what the file has already.
    fn same_again(&mut self) {
        let file = self.a_file();
        let agents = [Agent::Claude, Agent::Pi, Agent::Gemini];
        let Some(author) = self.session(Some(file), &agents) else {
            return;
        };
        self.show(file, Some(author.0));
        let text = self.files[file].text();
        self.put_whole(file, author, &text);
    }

    fn put_whole(&mut self, file: usize, (session, turn): (usize, usize), text: &str) {
        let (path, before) = (self.files[file].path.clone(), self.files[file].text());
        self.files[file].set(text, Some((session, turn)));
        let call = Call::Write {
            path: self.named(session, &path),
            content: text.to_owned(),
            before: Some(before),
        };
        // A tool writes the ends of lines that it is given.
        let agent = self.sessions[session].agent;
        self.files[file].crlf &= agent != Agent::Pi;
        self.do_call(session, &call, Outcome::Done);
        self.note(format!(
            "session {session}.{turn} ({agent:?}) rewrites {path}"
        ));
    }

    /// Replaces a part of a line.
    fn word(&mut self) {
        let file = self.a_file();
        let agents = [Agent::Claude, Agent::Pi, Agent::Gemini];
        let Some(author) = self.session(Some(file), &agents) else {
            return;
        };
        let before = self.files[file].clone();
        let start = self.rng.below(before.lines.len());
        let lines = before.lines.iter().skip(start);
        let call = lines.filter_map(|line| line.text.find("compute(").map(|at| &line.text[at..]));
        let Some(old) = call.map(str::to_owned).next() else {
            return;
        };
        if before.text().matches(&old).count() != 1 {
            return;
        }
        let new = old.replace("compute", &format!("gather{}", self.journal.len()));
        let replacement = Replacement {
            old,
            new,
            all: false,
        };
        let mut after = before.clone();
        after.replace(&replacement, Some(author));
        self.put_edit(file, author, vec![replacement], (before, after));
    }

    /// Replaces a word in all lines.
    fn everywhere(&mut self) {
        let file = self.a_file();
        let Some(author) = self.session(Some(file), &[Agent::Claude, Agent::Gemini]) else {
            return;
        };
        self.show(file, Some(author.0));
        let before = self.files[file].clone();
        let old = format!("{}_", self.rng.word(&WORDS));
        if !before.text().contains(&old) {
            return;
        }
        let new = format!("{}{}_", old.trim_end_matches('_'), self.journal.len());
        let replacement = Replacement {
            old,
            new,
            all: true,
        };
        let mut after = before.clone();
        after.replace(&replacement, Some(author));
        self.put_edit(file, author, vec![replacement], (before, after));
    }

    fn hand(&mut self) {
        let file = self.a_file();
        self.show(file, None);
        let changes = self.rng.between(1, 4);
        let mut fresh = self.fresh_lines(changes, changes).into_iter();
        let mut next = || fresh.next().unwrap_or_default();
        let before = self.files[file].clone();
        let lines = before.shuffled(changes, &mut next, &mut self.rng);
        self.put_by_hand(file, &lines);
    }

    fn put_by_hand(&mut self, file: usize, lines: &[String]) {
        let at = self.tick();
        let end = if self.files[file].ended { "\n" } else { "" };
        let text = format!("{}{end}", lines.join("\n"));
        self.files[file].set(&text, None);
        self.files[file].hidden = true;
        let path = self.files[file].path.clone();
        self.clock = at;
        self.note(format!("a hand edits {path}"));
    }

    /// A hand or a tool of a session changes the white space.
    fn reformat(&mut self) {
        let file = self.a_file();
        self.show(file, None);
        if self.rng.id_source(0.5)
            && let Some((session, _)) = self.session(Some(file), &Agent::ALL)
        {
            let call = Call::Shell {
                command: "make format".to_owned(),
                output: "1 file changed\n".to_owned(),
            };
            self.do_call(session, &call, Outcome::Done);
        }
        self.tick();
        self.files[file].reformat();
        self.files[file].hidden = true;
        let path = self.files[file].path.clone();
        self.note(format!("{path} is formatted"));
    }

    /// An edit that does not happen; sometimes a hand types the same afterwards.
    fn failure(&mut self) {
        let file = self.a_file();
        let Some((session, turn)) = self.session(Some(file), &Agent::ALL) else {
            return;
        };
        self.show(file, Some(session));
        let new = self.fresh_lines(1, 3);
        let Some(stretch) = self.files[file].stretch(new, &mut self.rng) else {
            return;
        };
        let before = self.files[file].clone();
        let mut replacement = before.replacement(&stretch);
        let outcome = match self.rng.id_source(0.5) {
            true => Outcome::Rejected,
            false => {
                replacement.old.push_str(" is not there");
                Outcome::Failed
            }
        };
        let path = self.named(session, &before.path);
        let call = match self.sessions[session].agent {
            Agent::Codex => Call::Patch {
                body: format!("*** Update File: {path}\n{}", before.hunk(&stretch)),
                report: Vec::new(),
            },
            _ => Call::Edit {
                path,
                replacements: vec![replacement],
                before: before.text(),
                after: before.text(),
            },
        };
        self.do_call(session, &call, outcome);
        self.note(format!(
            "session {session}.{turn} does not edit {}: {:?} {outcome:?}",
            before.path, stretch.new
        ));
        if self.rng.id_source(0.4) {
            let mut after = before.clone();
            let typed = before.replacement(&stretch);
            after.replace(&typed, None);
            let lines: Vec<String> = after.lines.iter().map(|line| line.text.clone()).collect();
            self.put_by_hand(file, &lines);
        }
    }

    fn rename(&mut self) {
        let file = self.a_file();
        let (from, to) = (self.files[file].path.clone(), self.unused_path());
        if self.rng.id_source(0.4) {
            // A hand moves it: only git can tell.
            self.commit();
            self.files[file].path = to.clone();
            self.commit();
            self.note(format!("a hand moves {from} to {to}"));
            return;
        }
        let Some((session, turn)) = self.session(Some(file), &Agent::ALL) else {
            return;
        };
        self.show(file, Some(session));
        let program = if self.rng.id_source(0.5) {
            "mv"
        } else {
            "git mv"
        };
        let (old, new) = (self.named(session, &from), self.named(session, &to));
        let call = Call::Shell {
            command: format!("{program} '{old}' '{new}'"),
            output: String::new(),
        };
        self.do_call(session, &call, Outcome::Done);
        self.note(format!("session {session}.{turn} moves {from} to {to}"));
        self.files[file].path = to;
    }
}

/// Whether two texts that each occur once share a byte.
fn overlap(text: &str, one: &str, other: &str) -> bool {
    match (text.find(one), text.find(other)) {
        (Some(a), Some(b)) => a < b + other.len() && b < a + one.len(),
        _ => true,
    }
}
