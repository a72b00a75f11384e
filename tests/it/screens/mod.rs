//! The appearance of the screens, including styles: every state at the sizes that matter, and arbitrary sizes.

mod along;
mod copying;
mod cost;
mod current;
mod degenerate;
mod figures;
mod filter;
mod finding;
mod following;
mod hold;
mod leaving;
mod many;
mod own_keys;
mod pager;
mod picker;
mod planning;
mod progress;
mod random;
mod redraw;
mod sessions;
mod stores;
mod storms;
mod title;
mod tune;
mod utf16;
mod window;

/// The sizes at which screens are checked: narrow, medium, wide.
const SIZES: [(u16, u16); 2] = [(80, 24), (200, 50)];
