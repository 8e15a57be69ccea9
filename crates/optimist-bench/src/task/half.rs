//! The two halves of each group of tasks: one to choose by, one to confirm the choice.

/// Which of the halves a task belongs to, by a hash of its name: it stays where it is whatever else is added.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Half {
    /// May be looked at while an optimizer is being changed.
    Choose,
    /// To be looked at only when a choice is made.
    Confirm,
}

impl Half {
    /// Both.
    pub const ALL: [Half; 2] = [Half::Choose, Half::Confirm];

    /// That of the task called `name`.
    pub fn of(name: &str) -> Half {
        let hash = crate::run::fnv(name);
        // FNV's low bits mix little: the halves are told by a high one, after another multiplication.
        match (hash ^ (hash >> 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 63 {
            0 => Half::Choose,
            _ => Half::Confirm,
        }
    }

    /// `choose` or `confirm`.
    pub fn name(self) -> &'static str {
        match self {
            Half::Choose => "choose",
            Half::Confirm => "confirm",
        }
    }

    /// What its tasks are for: `to choose by` or `to confirm`.
    pub fn purpose(self) -> &'static str {
        match self {
            Half::Choose => "to choose by",
            Half::Confirm => "to confirm",
        }
    }
}
