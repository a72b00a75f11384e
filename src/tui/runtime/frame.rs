//! Draws a frame: of the file as it is now, for the size that the terminal has now.

use std::io;

use ratatui::Frame;
use ratatui::layout::Size;

use super::{Session, terminal};
use crate::source::{Change, Source};
use crate::tui::event::{Effects, Event};
use crate::tui::pager::reader::Cost;
use crate::tui::view;

impl Session {
    /// Draws the current content of the file. Refreshes first, to notice when the file has been truncated.
    pub(super) fn draw(&mut self) -> io::Result<()> {
        if terminal::ended_by().is_some() {
            self.left = true;
            return Ok(());
        }
        let content = self.source.as_mut().map_or(Change::Same, Source::refresh);
        if content != Change::Same {
            let mut effects = Effects::default();
            self.changed(content, &mut effects);
            self.carry_out(effects)?;
        }
        while !self.draw_if_it_fits()? {}
        Ok(())
    }

    /// Draws what the screens show, unless the terminal is resized meanwhile; returns whether it was drawn.
    fn draw_if_it_fits(&mut self) -> io::Result<bool> {
        self.fit()?;
        let app = &self.app;
        let mut fits = true;
        let drawn = terminal::paint(|| {
            let draw = |frame: &mut Frame<'_>| {
                fits = size(frame.area().as_size()) == app.canvas.size;
                if !fits {
                    return Err(io::Error::from(io::ErrorKind::Interrupted));
                }
                view::draw(app, frame, &Cost::default());
                Ok(())
            };
            self.screen.try_draw(draw).map(drop)
        });
        if fits { drawn.map(|()| true) } else { Ok(false) }
    }

    /// Gives the screens the size of the terminal. Its event may still be on the way, and a program that was stopped
    /// is not told at all.
    fn fit(&mut self) -> io::Result<()> {
        let (columns, rows) = size(self.screen.size()?);
        if (columns, rows) != self.app.canvas.size {
            let mut effects = Effects::default();
            self.app.update(Event::Resize(columns, rows), &mut effects);
            self.carry_out(effects)?;
        }
        Ok(())
    }
}

fn size(size: Size) -> (u16, u16) {
    (size.width, size.height)
}
