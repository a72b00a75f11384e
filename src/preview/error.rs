//! Why there is no preview.

/// Why there is no preview.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PlanError {
    /// The agent's tool answers with an error, such as to an offset past the end: its own words.
    #[error("{message}")]
    Agent {
        /// The agent's words.
        message: String,
    },
    /// The policy file has a mistake that only shows in use.
    #[error("{policy}: {message}")]
    Policy {
        /// The policy's name.
        policy: String,
        /// What is wrong.
        message: String,
    },
}
