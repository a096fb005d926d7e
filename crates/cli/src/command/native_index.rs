//! `index --native`: agents' own index files, written anew from their logs.

use std::process::ExitCode;

use boswell_dialect::StoreIntention;
use boswell_model::Result;

use super::whole_store;
use crate::machine::Machine;
use crate::output::Output;

/// Shows what is wrong with agents' own indexes; with `apply` puts it right.
pub(crate) fn run(machine: &Machine, apply: bool) -> Result<ExitCode> {
    if apply {
        machine.may_write()?;
    }
    let mut out = Output::paged(machine);
    let outcome = whole_store::each(machine, &StoreIntention::Index, apply, &mut out)?;
    out.finish()?;
    if outcome.changed == 0 && !machine.quiet {
        crate::failure::say("every index that an agent keeps is as its logs say");
    }
    whole_store::say_next(machine, apply, &outcome);
    Ok(ExitCode::SUCCESS)
}
