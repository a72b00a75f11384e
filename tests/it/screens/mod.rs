//! What the screens look like, styles included: every state at the sizes that matter, and any size at all.

mod along;
mod cost;
mod degenerate;
mod many;
mod pager;
mod planning;
mod random;
mod redraw;
mod stores;
mod storms;
mod window;

/// The sizes at which screens are looked at: narrow, in between, wide.
const SIZES: [(u16, u16); 3] = [(80, 24), (120, 40), (200, 50)];
