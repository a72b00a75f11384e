//! Why there is no preview.

/// Why there is no preview.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PlanError {
    /// The agent's tool replies with an error, for example if an offset is beyond the end.
    #[error("{message}")]
    Agent {
        /// The agent's message.
        message: String,
    },
    /// The plan is no longer wanted.
    #[error("the plan was cancelled")]
    Cancelled,
    /// The policy file has a mistake that only shows in use.
    #[error("{policy}: {message}")]
    Policy {
        /// The policy's name.
        policy: String,
        /// What is wrong.
        message: String,
    },
}
