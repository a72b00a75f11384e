//! The steps that stop a command: the received signal, TERM, KILL. Pure: the clock is passed in.

use std::time::{Duration, Instant};

use rustix::process::Signal;

/// Time between TERM and KILL.
const PATIENCE: Duration = Duration::from_secs(2);

/// How far the escalation has come.
#[derive(Debug, Default)]
pub(crate) struct Escalation {
    asked: u32,
    told_at: Option<Instant>,
    kill_at: Option<Instant>,
}

impl Escalation {
    /// Returns the next step when `signal` asks to stop: first that signal itself, then TERM, then KILL. A third
    /// request sends KILL only once two seconds have passed since TERM; a fourth does not wait.
    pub(crate) fn ask(&mut self, signal: Signal, now: Instant) -> Option<Signal> {
        self.asked += 1;
        match self.asked {
            1 => Some(signal),
            2 => {
                self.told_at = Some(now);
                Some(Signal::TERM)
            }
            3 => {
                self.kill_at = self.told_at.map(|told| told + PATIENCE);
                self.due(now)
            }
            _ => Some(Signal::KILL),
        }
    }

    /// Handles a timeout: TERM now, KILL in two seconds. If KILL is to come already, it comes no later.
    pub(crate) fn time_out(&mut self, now: Instant) -> Signal {
        self.asked = self.asked.max(2);
        self.told_at = Some(now);
        self.kill_at.get_or_insert(now + PATIENCE);
        Signal::TERM
    }

    pub(crate) fn due(&mut self, now: Instant) -> Option<Signal> {
        self.kill_at.take_if(|at| *at <= now).map(|_| Signal::KILL)
    }

    /// When to call [`Escalation::due`] next.
    pub(crate) fn next(&self) -> Option<Instant> {
        self.kill_at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_requests_escalate() {
        let (mut escalation, now) = (Escalation::default(), Instant::now());
        assert_eq!(escalation.ask(Signal::INT, now), Some(Signal::INT));
        assert_eq!(escalation.ask(Signal::INT, now), Some(Signal::TERM));
        assert_eq!((escalation.ask(Signal::INT, now), escalation.next()), (None, Some(now + PATIENCE)));
        assert_eq!(escalation.due(now), None);
        assert_eq!((escalation.due(now + PATIENCE), escalation.next()), (Some(Signal::KILL), None));
    }

    #[test]
    fn a_late_third_and_any_fourth_kill_at_once() {
        let (mut escalation, now) = (Escalation::default(), Instant::now());
        escalation.ask(Signal::INT, now);
        escalation.ask(Signal::INT, now);
        assert_eq!(escalation.ask(Signal::INT, now + PATIENCE), Some(Signal::KILL));
        assert_eq!(escalation.ask(Signal::INT, now + PATIENCE), Some(Signal::KILL));
    }

    #[test]
    fn other_signals_are_passed_on_first() {
        assert_eq!(Escalation::default().ask(Signal::HUP, Instant::now()), Some(Signal::HUP));
    }

    #[test]
    fn a_timeout_sends_term_then_kill() {
        let (mut escalation, now) = (Escalation::default(), Instant::now());
        assert_eq!((escalation.time_out(now), escalation.due(now)), (Signal::TERM, None));
        assert_eq!(escalation.time_out(now + PATIENCE / 2), Signal::TERM);
        assert_eq!(escalation.due(now + PATIENCE), Some(Signal::KILL));
        assert_eq!(escalation.next(), None);
    }
}
