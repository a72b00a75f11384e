//! All tests from outside: the program as the user runs it, the screens, the policies, the layers. They are one
//! program, so that the library is linked only once; `cargo test --test it screens` runs one part.

mod budgets;
mod capture;
mod circles;
mod cli;
mod common;
mod corpus;
mod documents;
mod layers;
mod mutants;
mod naive;
mod packaging;
mod picture;
mod policies;
mod screens;
mod session;
mod sessions_cli;
mod stores_cli;
mod terminal;
mod third_party;
