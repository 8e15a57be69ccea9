//! Hashing and checking passwords with argon2id.

use std::sync::OnceLock;

use argon2::Argon2;
use argon2::password_hash::phc::PasswordHash;
use argon2::password_hash::{PasswordHasher, PasswordVerifier};

use super::ledger::AccountError;

/// The shortest password, in characters.
pub const SHORTEST: usize = 10;

/// The longest password, in characters: hashing longer ones would let strangers waste our time.
pub const LONGEST: usize = 256;

/// What is stored of a password: argon2id with 19 MiB, two passes and a salt of its own.
///
/// # Errors
/// If it is too short or too long.
pub fn hash(password: &str) -> Result<String, AccountError> {
    let length = password.chars().count();
    if !(SHORTEST..=LONGEST).contains(&length) {
        return Err(AccountError::BadPassword { length });
    }
    let hash = Argon2::default().hash_password(password.as_bytes());
    hash.map(|hash| hash.to_string()).map_err(|error| AccountError::NoSecret { reason: error.to_string() })
}

/// Whether `password` matches the stored hash. Takes as long if there is none, so timing doesn't reveal which users exist.
pub fn is_right(password: &str, stored: Option<&str>) -> bool {
    static NOBODY: OnceLock<String> = OnceLock::new();
    if password.chars().count() > LONGEST {
        return false;
    }
    let nobody = || NOBODY.get_or_init(|| hash("nobody has this password").unwrap_or_default()).as_str();
    let Ok(parsed) = PasswordHash::new(stored.unwrap_or_else(nobody)) else { return false };
    let is_right = Argon2::default().verify_password(password.as_bytes(), &parsed).is_ok();
    is_right && stored.is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_right_password_is_right() {
        let stored = hash("correct horse").unwrap();
        assert!(stored.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{stored}");
        assert_ne!(stored, hash("correct horse").unwrap(), "each has a salt of its own");
        assert!(is_right("correct horse", Some(&stored)));
        for wrong in ["correct hors", "Correct horse", "", "nobody has this password"] {
            assert!(!is_right(wrong, Some(&stored)) && !is_right(wrong, None), "{wrong}");
        }
        assert!(!is_right("correct horse", Some("not a hash")));
        assert!(hash("short").is_err() && hash(&"x".repeat(LONGEST + 1)).is_err());
    }
}
