//! The binary: parse, run, exit status.

fn main() -> std::process::ExitCode {
    overspill::internals::cli::main()
}
