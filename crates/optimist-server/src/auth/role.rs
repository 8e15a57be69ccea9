//! Roles, and what each may do.

use serde::{Deserialize, Serialize};

/// What a user or a token is for.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Looks, asks, and tells what came of trials. Tokens only.
    Worker,
    /// Looks.
    Viewer,
    /// Looks, asks, tells, amends, enqueues, pauses: all that goes on in a study.
    Operator,
    /// Everything: also creates and deletes studies, and manages users.
    Admin,
}

/// What something needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// Nothing: anybody may.
    Nothing,
    /// To look.
    View,
    /// To ask and tell.
    Work,
    /// To change what goes on in a study.
    Operate,
    /// To create, delete, manage users.
    Administer,
}

impl Role {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Worker, Self::Viewer, Self::Operator, Self::Admin];

    /// As users write it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Worker => "worker",
            Self::Viewer => "viewer",
            Self::Operator => "operator",
            Self::Admin => "admin",
        }
    }

    /// Whether it has what is needed.
    pub fn has(self, need: Need) -> bool {
        match need {
            Need::Nothing | Need::View => true,
            Need::Work => self != Self::Viewer,
            Need::Operate => matches!(self, Self::Operator | Self::Admin),
            Need::Administer => self == Self::Admin,
        }
    }
}

impl Need {
    /// The least role that has it, as users write it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Nothing => "nobody",
            Self::View => "viewer",
            Self::Work => "worker or operator",
            Self::Operate => "operator",
            Self::Administer => "admin",
        }
    }
}

impl std::str::FromStr for Role {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        let role = Self::ALL.into_iter().find(|role| role.word() == word);
        role.ok_or_else(|| {
            format!(
                "there is no role `{word}`; the roles are viewer, operator, admin and, for tokens, worker"
            )
        })
    }
}
