//! What the screens look like, styles included: every state at the sizes that matter, and any size at all.

mod common;

#[path = "screens/along.rs"]
mod along;
#[path = "screens/cost.rs"]
mod cost;
#[path = "screens/degenerate.rs"]
mod degenerate;
#[path = "screens/many.rs"]
mod many;
#[path = "screens/pager.rs"]
mod pager;
#[path = "screens/planning.rs"]
mod planning;
#[path = "screens/random.rs"]
mod random;
#[path = "screens/redraw.rs"]
mod redraw;
#[path = "screens/stores.rs"]
mod stores;
#[path = "screens/window.rs"]
mod window;

/// The sizes at which screens are looked at: narrow, in between, wide.
const SIZES: [(u16, u16); 3] = [(80, 24), (120, 40), (200, 50)];
