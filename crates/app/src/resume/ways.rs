//! The ways to resume a conversation, for faces that let the user choose one.

use boswell_model::{Error, Result};

use super::{Permissions, ResumePlan, ResumeRequest, resume};
use crate::{App, AppResult, RequestContext};

/// A request for the ways to resume a conversation.
#[derive(Debug, Clone, Default)]
pub struct WaysRequest {
    /// The session as users name it: see `boswell_store::store::Selector`.
    pub session: String,
    /// Sessions of other stores that are the same conversation, as a list names them.
    pub linked: Vec<String>,
}

/// A way to resume a conversation.
#[derive(Debug)]
pub struct ResumeWay {
    /// What it is.
    pub kind: ResumeWayKind,
    /// The session that is resumed, as the request names it.
    pub session: String,
    /// The command, or why there is none.
    pub plan: std::result::Result<ResumePlan, Error>,
}

/// What a way to resume a conversation is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResumeWayKind {
    /// The command of the agent, which asks for permissions as it does by itself.
    Plain,
    /// The same with the permissions that the session last had. Only if they make a difference.
    SamePermissions,
    /// The same conversation in the store of another program.
    OtherSide,
}

impl App {
    /// Returns the ways to resume a conversation, the usual one first. Nothing is started, and
    /// nothing is written.
    ///
    /// # Errors
    ///
    /// As [`resume`](App::resume), if no way leads anywhere because the session does not exist.
    pub fn ways_to_resume(&self, request: &WaysRequest) -> AppResult<Vec<ResumeWay>> {
        self.answer(|cx| ways(cx, request))
    }
}

fn ways(cx: &RequestContext, request: &WaysRequest) -> Result<Vec<ResumeWay>> {
    // A name that fits no session is an error of the request, not of a way.
    cx.resolve(&request.session)?;
    let way = |kind, session: &str, permissions| ResumeWay {
        kind,
        session: session.to_owned(),
        plan: resume(
            cx,
            &ResumeRequest {
                session: session.to_owned(),
                permissions,
            },
        ),
    };
    let plain = way(ResumeWayKind::Plain, &request.session, Permissions::Asked);
    let same = way(
        ResumeWayKind::SamePermissions,
        &request.session,
        Permissions::Same,
    );
    let argv = |way: &ResumeWay| way.plan.as_ref().ok().map(|plan| plan.argv.clone());
    let is_other = argv(&same).is_some() && argv(&same) != argv(&plain);
    let mut ways = vec![plain];
    ways.extend(Some(same).filter(|_| is_other));
    let linked = request.linked.iter();
    ways.extend(linked.map(|it| way(ResumeWayKind::OtherSide, it, Permissions::Asked)));
    Ok(ways)
}
