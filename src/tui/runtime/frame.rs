//! Draws a frame: of the file as it is now, for the size that the terminal has now.

use std::io;

use ratatui::Frame;

use super::{Session, terminal};
use crate::source::{Change, Source};
use crate::tui::event::Event;
use crate::tui::screen::Effects;
use crate::tui::view;
use crate::tui::widget::cost::Cost;

impl Session {
    /// Draws the current content of the file. Refreshes first, to notice when the file has been truncated.
    pub(super) fn draw(&mut self) -> io::Result<()> {
        if terminal::ended_by().is_some() {
            self.left = true;
            return Ok(());
        }
        let content = self.source_mut().map_or(Change::Same, Source::refresh);
        if content != Change::Same {
            let mut effects = Effects::default();
            self.changed(content, &mut effects);
            self.carry_out(effects)?;
        }
        while let Some((columns, rows)) = self.draw_unless_resized()? {
            let mut effects = Effects::default();
            self.app.update(Event::Resize(columns, rows), &mut effects);
            self.carry_out(effects)?;
        }
        Ok(())
    }

    /// Draws what the screens show, if they have the size of the terminal; otherwise returns that size, in columns and
    /// rows. Its event may still be on the way, and a program that was stopped is not told at all.
    fn draw_unless_resized(&mut self) -> io::Result<Option<(u16, u16)>> {
        let app = &self.app;
        let mut size = app.canvas.size;
        let drawn = terminal::paint(|| {
            let draw = |frame: &mut Frame<'_>| {
                size = frame.area().as_size().into();
                if size != app.canvas.size {
                    return Err(io::Error::from(io::ErrorKind::Interrupted));
                }
                view::draw(app, frame, &Cost::default());
                Ok(())
            };
            self.screen.try_draw(draw).map(drop)
        });
        if size == app.canvas.size { drawn.map(|()| None) } else { Ok(Some(size)) }
    }
}
