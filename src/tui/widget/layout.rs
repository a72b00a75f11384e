//! The layout of the screens, for any size down to zero. Pure: takes sizes, returns rectangles.

use ratatui::layout::Rect;

use crate::output::OpenOutput;
pub use crate::output::Side;

/// From this many columns on, both texts are shown side by side unless the user wants one.
const WIDE: u16 = 140;

/// From this many columns on, both texts can be shown side by side.
pub const WIDE_ENOUGH: u16 = 100;

/// From this many columns on, the map of the file is shown.
pub const MAPPED: u16 = 60;

/// Minimum number of columns and rows in which an output is shown.
pub const LEAST: (u16, u16) = (40, 8);

pub const TOO_SMALL: &str = "overspill needs 40x8";

/// From this many rows on, two lines of details about the selected entry are shown below a list.
const DETAILED: u16 = 14;

/// From this many rows of its body on, a list has headings.
const HEADED: u16 = 6;

/// From this many columns on, the output of the selected row is shown beside a list.
const BESIDE: u16 = 160;

/// Columns of the map of the file and of the blank before it.
const MAP: u16 = 2;

/// Columns of the rule between the panes and of the blanks around it.
const BETWEEN: u16 = 3;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PagerAreas {
    pub title: Rect,
    pub preview: Option<Rect>,
    /// The column of the rule between the panes, if both are shown.
    pub between: Option<Rect>,
    pub spill: Option<Rect>,
    pub map: Option<Rect>,
    pub rule: Rect,
    pub status: Rect,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum SideBySide {
    #[default]
    IfWide,
    Always,
    Never,
}

impl SideBySide {
    pub fn is_split(self, columns: u16) -> bool {
        match self {
            Self::IfWide => columns >= WIDE,
            Self::Always => columns >= WIDE_ENOUGH,
            Self::Never => false,
        }
    }
}

/// Splits an area into title, body, rule and status. When rows are scarce, the body gets them first.
fn bands(area: Rect) -> [Rect; 4] {
    let [title, rule, status] = [3, 8, 2].map(|rows| u16::from(area.height >= rows));
    let mut y = area.y;
    [title, area.height - title - rule - status, rule, status].map(|height| {
        let band = Rect { y, height, ..area };
        y += height;
        band
    })
}

/// Divides the screen for one output: both panes, or only the one with the focus.
pub fn pager(area: Rect, focus: Side, is_split: bool) -> PagerAreas {
    let [title, body, rule, status] = bands(area);
    let map = if area.width < MAPPED { 0 } else { MAP };
    let texts = Rect { width: body.width - map, ..body };
    let columns = |x: u16, width: u16| Some(Rect { x: body.x + x, width, ..body });
    let map = if map > 0 { columns(body.width - 1, 1) } else { None };
    let one = |side| (focus == side).then_some(texts);
    let (preview, between, spill) = match texts.width.checked_sub(BETWEEN) {
        Some(room) if is_split => {
            let left = room / 2;
            (columns(0, left), columns(left + 1, 1), columns(left + BETWEEN, room - left))
        }
        _ => (one(Side::Preview), None, one(Side::Spill)),
    };
    PagerAreas { title, preview, between, spill, map, rule, status }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ListPanel {
    None,
    /// Something about the selected row, at the right of the list.
    Beside,
    /// A picture of all rows, above the list.
    Above,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ListAreas {
    pub title: Rect,
    pub head: Rect,
    pub list: Rect,
    /// The panel, if there is room; one column before it is for the rule between if it is beside the list.
    pub panel: Option<Rect>,
    pub rule: Rect,
    /// Details about the selected row, if there is room.
    pub detail: Rect,
    pub status: Rect,
}

/// Divides the screen for a list, which may be a few rows high, beside an agent.
pub fn list(area: Rect, panel: ListPanel) -> ListAreas {
    let [title, body, rule, status] = bands(area);
    let two = if area.height >= DETAILED { 2 } else { 0 };
    let body = Rect { height: body.height - two, ..body };
    let rule = Rect { y: rule.y - two, ..rule };
    let detail = Rect { y: status.y - two, height: two, ..status };
    let (panel, body) = match panel {
        ListPanel::Beside if area.width >= BESIDE => {
            let left = body.width * 3 / 5;
            let panel = Rect { x: body.x + left + 1, width: body.width - left - 1, ..body };
            // A blank column lies before the rule.
            (Some(panel), Rect { width: left - 1, ..body })
        }
        ListPanel::Above if body.height >= PLOTTED => {
            let height = (body.height * 2 / 5).max(body.height.saturating_sub(MAX_BELOW));
            let below = Rect { y: body.y + height, height: body.height - height, ..body };
            (Some(Rect { height, ..body }), below)
        }
        _ => (None, body),
    };
    let head = Rect { height: u16::from(body.height >= HEADED), ..body };
    let list = Rect { y: body.y + head.height, height: body.height - head.height, ..body };
    ListAreas { title, head, list, panel, rule, detail, status }
}

/// Minimum number of rows of list and panel together with which there is a panel above.
const PLOTTED: u16 = 14;

/// The rows of the list with its heading on tall screens; the panel above takes the others.
const MAX_BELOW: u16 = 18;

/// Returns a centred box of at most `width` by `height`, with a margin if there is room.
pub fn overlay(area: Rect, width: u16, height: u16) -> Rect {
    let width = width.min(area.width.saturating_sub(2)).max(area.width.min(10));
    let height = height.min(area.height.saturating_sub(2)).max(area.height.min(3));
    Rect { x: area.x + (area.width - width) / 2, y: area.y + (area.height - height) / 2, width, height }
}

impl OpenOutput {
    /// Returns the columns of a side's gutter: in Spill the number of a line, the mark for kept or lost, and a space.
    pub fn gutter(&self, side: Side) -> u16 {
        let lines = match side {
            Side::Preview => return 1,
            // Before a number that is not exact stands `~`.
            Side::Spill => self.lines().unwrap_or_else(|| self.about_lines().saturating_mul(10)),
        };
        (lines.max(1).ilog10() as u16 + 1).max(4) + 3
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_layout_handles_every_size_down_to_0() {
        for width in 0..300 {
            for height in 0..12 {
                let area = Rect { x: 0, y: 0, width, height };
                for (focus, is_split) in [(Side::Preview, false), (Side::Spill, false), (Side::Spill, true)] {
                    let pager = pager(area, focus, is_split);
                    let parts = [
                        Some(pager.title),
                        pager.preview,
                        pager.between,
                        pager.spill,
                        pager.map,
                        Some(pager.rule),
                        Some(pager.status),
                    ];
                    for part in parts.into_iter().flatten() {
                        assert_eq!(part.intersection(area), part, "{width}x{height}");
                    }
                }
                for of in [ListPanel::None, ListPanel::Beside, ListPanel::Above] {
                    let ListAreas { list, panel, detail, .. } = list(area, of);
                    let parts = [list, detail, panel.unwrap_or_default()];
                    let within = parts.map(|part| part.intersection(area));
                    assert_eq!(within, parts.map(|part| part.intersection(part)), "{width}x{height}");
                }
                assert_eq!(overlay(area, 40, 10).intersection(area), overlay(area, 40, 10));
            }
        }
    }

    #[test]
    fn the_map_is_the_last_column_from_60_columns_on() {
        for width in [59, 60, 80, 140] {
            let area = Rect { x: 0, y: 0, width, height: 24 };
            let pager = pager(area, Side::Spill, width >= 140);
            let spill = pager.spill.map(|r| r.right());
            match pager.map {
                None => assert_eq!((width, spill), (59, Some(59))),
                Some(map) => {
                    assert_eq!((map.width, map.right(), map.height, spill), (1, width, 21, Some(width - 2)));
                }
            }
        }
    }

    #[test]
    fn one_text_is_shown_or_both_with_a_rule_between_them() {
        let area = Rect { x: 0, y: 0, width: 200, height: 50 };
        let one = pager(area, Side::Spill, false);
        assert_eq!((one.preview, one.between, one.spill.map(|r| r.width)), (None, None, Some(198)));
        let both = pager(area, Side::Spill, true);
        let places = [both.preview, both.between, both.spill].map(|r| r.map(|r| (r.x, r.width)));
        assert_eq!(places, [Some((0, 97)), Some((98, 1)), Some((100, 98))]);
    }

    #[test]
    fn side_by_side_depends_on_the_setting_and_the_width() {
        let split = |how: SideBySide| [99, 100, 139, 140].map(|columns| how.is_split(columns));
        assert_eq!(split(SideBySide::IfWide), [false, false, false, true]);
        assert_eq!(split(SideBySide::Always), [false, true, true, true]);
        assert_eq!(split(SideBySide::Never), [false; 4]);
    }
}
