//! Everything that is tested from outside: the program as a person runs it, the screens, the policies, the layers.
//! One program, so that the library is linked once; `cargo test --test it screens` runs one part.

mod capture;
mod circles;
mod cli;
mod common;
mod layers;
mod mutants;
mod naive;
mod picture;
mod policies;
mod screens;
mod stores_cli;
mod terminal;
