//! Sets the title of a session whose program stores it in the header: oh-my-pi and xcsh.

use boswell_model::json::{Json, Raw, set_member};
use boswell_model::{Advice, Error, ErrorKind, Result, Slot};

use super::encode::clean_title;
use super::head::is_slot;
use super::link_scheme::header;
use crate::{Modified, Plan, PlanInput, Planned, Precondition, Step};

/// Longest header line that xcsh finds when it looks for the session used last.
const FIRST_LOOK: usize = 4096;

/// Plans a new title in the header, and in the title slot if there is one: then only the slot
/// counts.
pub(super) fn plan(asked: &PlanInput<'_>, title: &str) -> Result<Planned> {
    let title = clean_title(title)?;
    let (Some(key), Some(header)) = (&asked.location.key, header(asked.view.log)) else {
        return Err(Error::new(
            ErrorKind::Damaged,
            format!(
                "session {} has no header to hold a title",
                asked.location.id
            ),
        )
        .advising(Advice::Check { session: None }));
    };
    let edit = |slot: Slot, new: Vec<u8>, old: &[u8]| Step::Edit {
        key: key.clone(),
        at: asked.view.log.head(slot).map(|head| head.at),
        old: old.to_vec(),
        new,
        // xcsh considers the file that changed last as the session used last; a new title is not a
        // use.
        modified: Modified::Kept,
    };
    let old = asked.view.payload(header)?;
    let new = set(&set(&old, "title", &title)?, "titleSource", "user")?;
    if new.len() > FIRST_LOOK && new.len() > old.len() {
        return Err(Error::new(
            ErrorKind::Invalid,
            "the title is too long for the header of the session",
        )
        .because(format!(
            "its agent reads {FIRST_LOOK} bytes of it, and it would have {}",
            new.len()
        ))
        .advising("give a shorter title"));
    }
    let mut plan = Plan::new("rename", format!("call {} `{title}`", asked.location.id))
        .requiring(Precondition::NotLive { key: key.clone() })
        .step(edit(header, new, &old));
    // The slot precedes the header. It is edited after the header, so that the header's position is
    // still valid.
    let before = asked.view.log.slots().take_while(|slot| *slot < header);
    if let Some(slot) = before
        .into_iter()
        .find(|slot| is_slot(asked.view.log.word(*slot)))
    {
        let old = asked.view.payload(slot)?;
        let new = fill_slot(&old, &title, &asked.id_source.now().to_rfc3339())?;
        plan = plan.step(edit(slot, new, &old));
    }
    Ok(Planned::of(plan))
}

/// Returns the title slot with another title and exactly the same length, because the agent
/// overwrites it in place.
fn fill_slot(old: &[u8], title: &str, now: &str) -> Result<Vec<u8>> {
    let mut slot = set(
        &set(&set(old, "title", "")?, "source", "user")?,
        "updatedAt",
        now,
    )?;
    if Raw::trusted(&slot).get("pad").is_some() {
        slot = set(&slot, "pad", "")?;
    }
    let room = old.len().saturating_sub(slot.len());
    let mut short = title.to_owned();
    while Json::from(short.as_str()).to_bytes().len() - 2 > room {
        short.pop();
    }
    let slot = set(&slot, "title", &short)?;
    let left = old.len().saturating_sub(slot.len());
    let padded = if Raw::trusted(&slot).get("pad").is_some() {
        set(&slot, "pad", &" ".repeat(left))?
    } else {
        slot
    };
    Ok(padded)
}

fn set(record: &[u8], key: &str, value: &str) -> Result<Vec<u8>> {
    set_member(record, &[key], &Json::from(value).to_bytes()).map_err(|fault| {
        Error::new(
            ErrorKind::Damaged,
            "the header of the session is not a JSON object",
        )
        .because(fault.to_string())
    })
}

#[cfg(test)]
mod tests {
    use super::super::Pi;
    use super::super::fixture::{HEADER, apply, asking, user};
    use super::*;
    use crate::EditRequest;
    use crate::PlanEdits;

    fn retitled(pi: Pi, text: &str, title: &str) -> Result<String> {
        asking(pi, text, |asked| {
            let planned = pi.plan(asked, &EditRequest::Title(title.to_owned()))?;
            Ok(apply(text, &planned.plan))
        })
    }

    #[test]
    fn a_title_goes_into_the_header_and_touches_no_other_byte() {
        let rest = format!("{}\n{{\"torn", user("1", "", "a"));
        let text = format!("{HEADER}\n{rest}");
        let now = retitled(Pi::XCSH, &text, " red\t\u{1b}build ").unwrap();
        let (header, after) = now.split_once('\n').unwrap();
        assert_eq!(after, rest);
        assert!(
            header.ends_with(r#""title":"red build","titleSource":"user"}"#),
            "{header}"
        );
        let again = retitled(Pi::XCSH, &now, "green").unwrap();
        assert_eq!(again, now.replace("red build", "green"));
    }

    #[test]
    fn a_title_slot_keeps_its_length_and_gets_as_much_as_fits() {
        let slot = format!(
            r#"{{"type":"title","v":1,"title":"old","updatedAt":"x","pad":"{}"}}"#,
            " ".repeat(180)
        );
        let text = format!("{slot}\n{HEADER}\n");
        for title in ["new".to_owned(), "会话恢复".to_owned(), "é\"\\".repeat(90)] {
            let now = retitled(Pi::OMP, &text, &title).unwrap();
            let (slot_now, header) = now.split_once('\n').unwrap();
            assert_eq!(slot_now.len(), slot.len(), "{slot_now}");
            let said = Raw::parse(slot_now.as_bytes())
                .unwrap()
                .get("title")
                .unwrap()
                .text()
                .unwrap()
                .into_owned();
            assert!(title.starts_with(&said) && !said.is_empty(), "{said}");
            let kept = Raw::parse(header.trim().as_bytes())
                .unwrap()
                .get("title")
                .unwrap()
                .text()
                .unwrap()
                .into_owned();
            assert_eq!(kept, title, "the header holds all of it");
        }
    }

    #[test]
    fn empty_and_endless_titles_are_refused_and_a_lost_header_is_told() {
        let refused = |text: &str, title: &str| retitled(Pi::XCSH, text, title).unwrap_err().kind();
        assert_eq!(refused(HEADER, " \n\t "), ErrorKind::Invalid);
        assert_eq!(refused(HEADER, &"x".repeat(5000)), ErrorKind::Invalid);
        assert_eq!(refused(&user("1", "", "a"), "x"), ErrorKind::Damaged);
    }
}
