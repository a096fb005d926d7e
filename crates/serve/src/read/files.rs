//! Files of projects, and which session wrote each line of one.
//!
//! `project` is compared with those of the listed sessions, and `file` is a path below it. The
//! application opens a file only if it is really there, and shows it only if a session wrote a line
//! of it.

use boswell_app::Answer;
use boswell_app::blame::{ProjectBlameRequest, ProjectFilesRequest};
use boswell_app::shape::Shape as _;

use crate::answer::{Plan, Reply, run};
use crate::call::Call;
use crate::lines::Last;
use crate::params::Params;
use crate::pool::Lane;
use crate::problem::Problem;

/// Lists the files that sessions of a project read or changed.
pub(crate) async fn project_files(mut call: Call) -> Reply {
    let params = call.params()?;
    let project = required(&params, "project");
    params.end()?;
    let request = ProjectFilesRequest { project: project? };
    let plan = Plan::list(&call).in_lane(Lane::Search);
    run(&call, plan, move |app, cancel, lines| {
        let Answer { value, notices } = app.project_files(&request, cancel)?;
        for file in value {
            if !lines.object(&file.object())? {
                break;
            }
        }
        let value = Last::None;
        Ok(Answer { value, notices })
    })
    .await
}

/// Returns which session, entry and prompt wrote each line of a file of a project.
pub(crate) async fn blame(mut call: Call) -> Reply {
    let params = call.params()?;
    let (project, file) = (required(&params, "project"), required(&params, "file"));
    params.end()?;
    let request = ProjectBlameRequest {
        project: project?,
        file: file?,
    };
    let plan = Plan::one(&call).in_lane(Lane::Search);
    run(&call, plan, move |app, cancel, lines| {
        let Answer { value, notices } = app.blame_in_project(&request, cancel)?;
        lines.object(&value.object())?;
        let value = Last::None;
        Ok(Answer { value, notices })
    })
    .await
}

fn required(params: &Params, name: &'static str) -> Result<String, Problem> {
    let missing = || Problem::invalid(format!("the parameter `{name}` is needed"));
    params.text(name).ok_or_else(missing)
}
