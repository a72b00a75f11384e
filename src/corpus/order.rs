//! Looks at outputs on several threads, and hands on what they find in the order of the outputs.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use crate::base::lock;
use crate::source::share_out;

use super::{CorpusOutput, CorpusReader};

/// A thread holds this many results, in all, before it waits for its turn.
const MAX_HELD: usize = 1 << 20;

/// Threads that are done leave this many results, in all, before the next one waits for its turn.
const MAX_WAITING: usize = 8 << 20;

/// Takes the results of one output, and holds them in bounded memory until all outputs before it are done.
pub(crate) struct OrderedSender<'a, 't, T> {
    shared: &'a Shared<'t, T>,
    number: usize,
    held: Vec<T>,
    is_begun: bool,
}

struct Shared<'t, T> {
    state: Mutex<State<'t, T>>,
    moved: Condvar,
}

/// Takes results, and says whether it wants more.
type Taker<'t, T> = Box<dyn FnMut(&mut Vec<T>) -> ControlFlow<()> + Send + 't>;

struct State<'t, T> {
    /// The 0-based number of the output whose results are handed on.
    turn: usize,
    /// The results of outputs after it that are done.
    left: BTreeMap<usize, Vec<T>>,
    amount: usize,
    take: Taker<'t, T>,
    /// Whether `take` has broken off.
    is_over: bool,
}

/// Calls `work` on several threads; its results go to `take` in the order of the outputs, until either breaks off.
pub(crate) fn in_order<'t, T: Send>(
    outputs: &[CorpusOutput],
    work: impl Fn(&mut CorpusReader, &CorpusOutput, &mut OrderedSender<'_, 't, T>) -> ControlFlow<()> + Sync,
    take: impl FnMut(&mut Vec<T>) -> ControlFlow<()> + Send + 't,
) {
    let state = State { turn: 0, left: BTreeMap::new(), amount: 0, take: Box::new(take), is_over: false };
    let shared = Shared { state: Mutex::new(state), moved: Condvar::new() };
    share_out(outputs.len(), CorpusReader::default, |reader, number| {
        let mut sender = OrderedSender { shared: &shared, number, held: Vec::new(), is_begun: false };
        let worked = work(reader, &outputs[number], &mut sender);
        let ended = sender.end();
        if worked.is_break() {
            lock(&shared.state).is_over = true;
            shared.moved.notify_all();
            return worked;
        }
        ended
    });
}

impl<T> OrderedSender<'_, '_, T> {
    /// Adds results. Once there are many, hands them on early if `is_steady` returns true, and breaks off if not; also
    /// breaks off once no more are wanted.
    pub(crate) fn put(
        &mut self,
        add: impl FnOnce(&mut Vec<T>),
        is_steady: impl FnOnce() -> bool,
    ) -> ControlFlow<()> {
        add(&mut self.held);
        if self.held.len() < MAX_HELD {
            return ControlFlow::Continue(());
        }
        if !is_steady() {
            return ControlFlow::Break(());
        }
        self.is_begun = true;
        let mut state = self.shared.await_turn(lock(&self.shared.state), self.number);
        state.hand_on(&mut self.held)
    }

    /// Takes back the results that were not handed on; returns whether those are all.
    pub(crate) fn take_back(&mut self) -> bool {
        self.held.clear();
        !self.is_begun
    }

    /// Leaves the results to the thread whose turn it is, or hands them on.
    fn end(self) -> ControlFlow<()> {
        let mut state = lock(&self.shared.state);
        if state.turn != self.number && state.amount.saturating_add(self.held.len()) > MAX_WAITING {
            state = self.shared.await_turn(state, self.number);
        }
        state.amount += self.held.len();
        state.left.insert(self.number, self.held);
        let mut flow = if state.is_over { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
        let before = state.turn;
        while let Some(mut next) = {
            let turn = state.turn;
            state.left.remove(&turn)
        } {
            state.amount -= next.len();
            if flow.is_continue() {
                flow = state.hand_on(&mut next);
            }
            state.turn += 1;
        }
        if state.turn != before || state.is_over {
            self.shared.moved.notify_all();
        }
        flow
    }
}

impl<'t, T> Shared<'t, T> {
    /// Waits for all outputs before `number`, or the end. Whoever has the lowest number never waits.
    fn await_turn<'a>(
        &'a self,
        state: MutexGuard<'a, State<'t, T>>,
        number: usize,
    ) -> MutexGuard<'a, State<'t, T>> {
        let waits = |state: &mut State<'t, T>| state.turn != number && !state.is_over;
        self.moved.wait_while(state, waits).unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> State<'_, T> {
    fn hand_on(&mut self, results: &mut Vec<T>) -> ControlFlow<()> {
        if !self.is_over && !results.is_empty() {
            self.is_over = (self.take)(results).is_break();
        }
        results.clear();
        if self.is_over { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}
