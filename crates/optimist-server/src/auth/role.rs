//! Roles, and what each may do.

use serde::{Deserialize, Serialize};

/// What a user or a token may do.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Can view, ask and tell. For tokens only.
    Worker,
    /// Can view everything and change nothing.
    Viewer,
    /// Can also amend, cancel, enqueue, retry, pause and annotate.
    Operator,
    /// Can also create and delete studies, and manage users and tokens.
    Admin,
}

/// The permission that a route requires.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// Open to anybody.
    Nothing,
    /// Viewing studies.
    View,
    /// Asking and telling.
    Work,
    /// Changing a study in other ways.
    Operate,
    /// Creating and deleting studies, and managing users.
    Administer,
}

impl Role {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Worker, Self::Viewer, Self::Operator, Self::Admin];

    /// The role's name on the command line and in JSON.
    pub fn word(self) -> &'static str {
        match self {
            Self::Worker => "worker",
            Self::Viewer => "viewer",
            Self::Operator => "operator",
            Self::Admin => "admin",
        }
    }

    /// Whether the role covers `need`.
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
    /// The least role that covers it, in words.
    pub fn word(self) -> &'static str {
        match self {
            Self::Nothing => "any",
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
            format!("unknown role `{word}`; roles are viewer, operator, admin and, for tokens only, worker")
        })
    }
}
