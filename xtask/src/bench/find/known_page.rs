//! The first page of a list from the catalog, before any file is read.
//!
//! No command of boswell shows it: it is what a screen shows when it starts. So a separate command
//! of xtask opens the application, requests the page and exits, and that process is measured as a
//! whole.

use boswell_app::list::ListRequest;
use boswell_app::{App, AppConfig, Environment};

use super::bed::Bed;
use crate::Outcome;
use crate::bench::group::Group;
use crate::bench::lab::Lab;
use crate::bench::measure::Job;
use crate::bench::table::{Row, Target};

/// A time that users do not notice, half of which is left to the rest of a face.
const ALLOWED: f64 = 0.010;
const ALLOWED_LARGE: f64 = 0.015;
/// Sessions per page.
const PAGE: usize = 50;

pub(crate) struct KnownFirstPage;

impl Group for KnownFirstPage {
    fn name(&self) -> &'static str {
        "known-page"
    }

    fn about(&self) -> &'static str {
        "a process that opens the application and asks for the first page from the catalog, without looking at files, over 10,000 and 100,000 sessions against the time allowed, and against `boswell list --limit 50`"
    }

    fn measure(&self, lab: &Lab) -> Outcome<Vec<Row>> {
        let mut rows = Vec::new();
        for (bed, case, allowed) in [
            (Bed::make(lab)?, "first page of 10,000", ALLOWED),
            (
                Bed::make_large(lab)?,
                "first page of 100,000",
                ALLOWED_LARGE,
            ),
        ] {
            let list = bed.job(lab, &["list", "--limit", "50"]);
            list.output_lines()?;
            let page = job(lab, &bed);
            if page.output_lines()? != PAGE {
                return Err("the catalog knows less than a page".into());
            }
            rows.push(lab.allowed(case, &page, allowed, Target::AtMost(1.0))?);
            let case = format!("{case}, against list 50");
            rows.push(lab.compare(&case, &page, &list, Some(Target::AtMost(0.5)))?);
        }
        Ok(rows)
    }
}

fn job(lab: &Lab, bed: &Bed) -> Job {
    let text = |path: &std::path::Path| path.display().to_string();
    lab.chore(&["known-page", &text(&bed.home), &text(&bed.root)])
}

/// `xtask known-page HOME ROOT`: prints the first page of the Claude Code sessions below ROOT from
/// the catalog in HOME.
pub(crate) fn run(arguments: &[String]) -> Outcome {
    let [home, root] = arguments else {
        return Err("usage: xtask known-page HOME ROOT".into());
    };
    let env = Environment {
        home: Some(home.into()),
        cwd: std::env::current_dir()?,
        tmp: std::env::temp_dir(),
        terminal: None,
        vars: std::collections::BTreeMap::new(),
    };
    let mut config = AppConfig::new(env, Some(home.into()));
    config.stores = vec![("claude".to_owned(), root.into())];
    config.exits_soon = true;
    let request = ListRequest {
        limit: Some(PAGE),
        ..ListRequest::default()
    };
    let answer = App::open(config)?.known_sessions(&request);
    let page = answer.map_err(|refusal| refusal.error)?.value;
    for row in page.rows {
        println!("{} {}", row.front.reference, row.name);
    }
    Ok(())
}
