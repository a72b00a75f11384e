//! Both ends around a notice that counts in the limit and says how much it stands for.

use crate::preview::measure::Text;
use crate::preview::plan::{self, PlanError};
use crate::preview::template::{Fact, Facts};
use crate::text::units::Want;

use super::segments::{self, Segment};
use super::{Chosen, Rule, composed};

/// How often the agent works the notice out anew, until it no longer changes.
const ROUNDS: usize = 4;

pub(crate) fn choose(text: &Text, rule: &Rule) -> Result<Chosen, PlanError> {
    let size = rule.needed(&rule.form.size, "size")?.max(1);
    if !text.exceeds(rule.unit, size) {
        return Ok(Chosen { cut: Some(false), ..plan::everything(text) });
    }
    let percent = rule.needed(&rule.form.head, "head")?;
    let total = text.size(rule.unit);
    text.wait_for(total.err().unwrap_or_default());
    let room = |words: &str| size.saturating_sub(segments::words_size(words, rule.unit));
    let shares = |room: u64| {
        let first = u64::try_from(u128::from(room) * u128::from(percent) / 100).unwrap_or(room);
        (first, room - first)
    };
    let mut words = String::new();
    for _ in 0..ROUNDS {
        let (first, last) = shares(room(&words));
        let next = notice(rule, total, first + last)?;
        if next == words {
            break;
        }
        words = next;
    }
    let (first, last) = shares(room(&words));
    let shown = segments::prefix(text, &[Segment::Words(words)], rule.unit, size);
    let mut kept = segments::head(text, text.body.clone(), rule.unit, first);
    kept.extend(shown);
    kept.extend(segments::tail(text, text.body.clone(), rule.unit, last));
    Ok(Chosen { cut: Some(true), ..composed::chosen(text, rule, vec![("kept", kept)]) })
}

fn notice(rule: &Rule, total: Result<u64, Want>, kept: u64) -> Result<String, PlanError> {
    let left = total.map(|total| total.saturating_sub(kept));
    let facts = Facts::from([("number", Fact::from(left)), ("size", Fact::from(total))]);
    rule.words(&rule.form.gap, &facts)
}
