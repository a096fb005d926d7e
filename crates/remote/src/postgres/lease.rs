//! Leases: by epoch and by the server's clock, renewed by a timer while their holder lives.
//!
//! The clock of this machine decides nothing: the server says when a lease has run out. A holder
//! that was stopped past its time finds out with its next append, which the server refuses if
//! another holder took the lease, and takes if none did.

use std::sync::Arc;
use std::time::Duration;

use boswell_model::{Advice, Error, ErrorKind, Result};
use boswell_store::Wait;
use boswell_store::backend::{Lease, LogClaim};
use tokio::task::AbortHandle;
use tokio::time::{Instant, sleep};
use uuid::Uuid;

use super::backend::{PostgresBackend, get};
use super::link::{Arguments, Link};
use super::statements::{RELEASE_LEASE, RENEW_LEASE, TAKE_LEASE};

/// The pauses of a writer that waits for a lease, from the first to the longest.
const PAUSES: (Duration, Duration) = (Duration::from_millis(10), Duration::from_millis(250));

/// Takes the lease of a session, as long as the claim waits.
pub(super) fn take(backend: &PostgresBackend, claim: &LogClaim<'_>) -> Result<Lease> {
    let session = claim.session.to_string();
    let attempt = Attempt {
        link: Arc::clone(&backend.link),
        session: session.clone(),
        dialect: claim.session.dialect.clone(),
        // Random, and only used if the session is new: its lines are stored under it.
        log: Uuid::new_v4(),
        holder: backend.holder.to_string(),
        millis: millis(backend.lease),
    };
    let wait = claim.wait;
    match backend
        .bridge
        .wait(async move { attempt.until_taken(wait).await })?
    {
        Taken::Epoch(epoch) => Ok(Lease::new(
            u64::try_from(epoch).unwrap_or(0),
            Holding::new(backend.clone(), session, epoch),
        )),
        Taken::By(other, left) => Err(busy(&claim.session.id, other.as_deref(), left)),
    }
}

/// What came of an attempt: the epoch, or who has the lease for how many milliseconds.
enum Taken {
    Epoch(i64),
    By(Option<String>, Option<i64>),
}

/// A request for a lease.
struct Attempt {
    link: Arc<Link>,
    session: String,
    dialect: String,
    log: Uuid,
    holder: String,
    millis: i32,
}

impl Attempt {
    async fn until_taken(&self, wait: Wait) -> Result<Taken> {
        let (begun, mut pause) = (Instant::now(), PAUSES.0);
        loop {
            let taken = self.once().await?;
            let enough = match wait {
                Wait::No => true,
                Wait::For(limit) => begun.elapsed() >= limit,
                Wait::Forever => false,
            };
            if enough || matches!(taken, Taken::Epoch(_)) {
                return Ok(taken);
            }
            sleep(pause).await;
            pause = (pause * 2).min(PAUSES.1);
        }
    }

    async fn once(&self) -> Result<Taken> {
        let arguments: Arguments = vec![
            Box::new(self.link.tenant.as_str().to_owned()),
            Box::new(self.session.clone()),
            Box::new(self.dialect.clone()),
            Box::new(self.log),
            Box::new(self.holder.clone()),
            Box::new(self.millis),
        ];
        let answer = self.link.ask(&TAKE_LEASE, arguments).await?;
        let row = answer.rows.first().ok_or_else(no_answer)?;
        Ok(match get::<Option<i64>>(row, 0)? {
            Some(epoch) => Taken::Epoch(epoch),
            None => Taken::By(get(row, 1)?, get(row, 2)?),
        })
    }
}

fn busy(id: &str, holder: Option<&str>, left: Option<i64>) -> Error {
    let what = format!("session {id} is being written by another process");
    let holder = holder.unwrap_or("another process");
    let seconds = u64::try_from(left.unwrap_or(0)).unwrap_or(0).div_ceil(1000);
    Error::new(ErrorKind::Busy, what)
        .because(format!(
            "{holder} has its lease for {seconds} s, unless it is renewed"
        ))
        .advising(Advice::WaitLonger)
}

fn no_answer() -> Error {
    Error::new(ErrorKind::Internal, "the database returned no row")
}

/// Returns a time as the functions take it.
pub(super) fn millis(time: Duration) -> i32 {
    i32::try_from(time.as_millis()).unwrap_or(i32::MAX)
}

/// A held lease. Dropping it releases the lease.
#[derive(Debug)]
struct Holding {
    backend: PostgresBackend,
    session: String,
    epoch: i64,
    renewal: AbortHandle,
}

impl Holding {
    fn new(backend: PostgresBackend, session: String, epoch: i64) -> Holding {
        let renewal = backend.bridge.spawn(renew(
            Arc::clone(&backend.link),
            session.clone(),
            epoch,
            backend.lease,
        ));
        Holding {
            backend,
            session,
            epoch,
            renewal,
        }
    }
}

/// Renews a lease until another holder has taken it, or this task is aborted.
async fn renew(link: Arc<Link>, session: String, epoch: i64, lease: Duration) {
    loop {
        sleep(lease / 3).await;
        let arguments: Arguments = vec![
            Box::new(link.tenant.as_str().to_owned()),
            Box::new(session.clone()),
            Box::new(epoch),
            Box::new(millis(lease)),
        ];
        // An error passes: if the lease has run out by then and was taken, an append says so.
        let Ok(answer) = link.ask(&RENEW_LEASE, arguments).await else {
            continue;
        };
        if answer
            .rows
            .first()
            .is_some_and(|row| get::<bool>(row, 0).is_ok_and(|kept| !kept))
        {
            return;
        }
    }
}

impl Drop for Holding {
    fn drop(&mut self) {
        self.renewal.abort();
        let arguments: Arguments = vec![Box::new(self.session.clone()), Box::new(self.epoch)];
        // A lease that cannot be released runs out: nothing depends on this call.
        let _ = self.backend.ask(&RELEASE_LEASE, arguments);
    }
}
