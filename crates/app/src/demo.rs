//! A small demo home: sessions of every agent, in two languages, one of them damaged.
//!
//! Texts, times and ids are fixed, so that the output matches the tour. The test generators are
//! separate and not part of the program.

mod agent_files;
mod layout;
mod native_session;
mod tour;

use std::path::PathBuf;

use boswell_model::{Error, ErrorKind, Result};
use boswell_store::disk::{IdSource, SystemIds};

use crate::shape::shape;
use crate::system::is_new_or_empty;
use crate::{App, AppResult, RequestContext};
use layout::DemoLayout;
use tour::TOUR;

/// A request to create a demo.
#[derive(Debug, Clone)]
pub struct DemoRequest {
    /// A folder that is missing or empty; `None` for a new temporary one.
    pub folder: Option<PathBuf>,
    /// The `boswell` program that the script of the demo runs.
    pub program: PathBuf,
}

shape! {
    /// Sample sessions to try boswell on.
    DemoShape: "demo" {
        /// its folder
        path: String,
        /// a script that runs boswell on it
        script: String,
        /// command-line options that select its stores
        options: Vec<String>,
        /// commands to try
        commands: Vec<DemoCommand>,
    }

    /// A command to try.
    DemoCommand {
        /// arguments of the script
        command: &'static str,
        /// what the command shows
        shows: &'static str,
    }
}

impl App {
    /// Creates a small home with sessions of every agent. The user's own sessions are neither read
    /// nor changed.
    ///
    /// # Errors
    ///
    /// Invalid if the folder is not empty, Denied if nothing may be written.
    pub fn demo(&self, request: &DemoRequest) -> AppResult<DemoShape> {
        self.answer(|cx| demo(cx, request))
    }
}

fn demo(cx: &RequestContext, request: &DemoRequest) -> Result<DemoShape> {
    cx.may_write()?;
    let root = match &request.folder {
        Some(folder) => cx.env.cwd.join(folder),
        None => cx.env.tmp.join(format!(
            "boswell-demo-{}",
            SystemIds.hex16().get(..8).unwrap_or("0")
        )),
    };
    if !is_new_or_empty(&root)? {
        return Err(Error::new(
            ErrorKind::Invalid,
            format!("`{}` is not an empty folder", root.display()),
        )
        .because("a demo is only created in an empty folder")
        .advising("name another folder, or none for a new temporary one"));
    }
    let place = DemoLayout::at(root);
    place.build(&request.program)?;
    let tour = TOUR.iter();
    Ok(DemoShape {
        path: place.root().display().to_string(),
        script: place.script().display().to_string(),
        options: place.options(),
        commands: tour
            .map(|&(command, shows)| DemoCommand { command, shows })
            .collect(),
    })
}
