//! Random secrets and their hashes. Secrets are too long to guess, so a fast unsalted hash is enough to store.

use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

/// Random bytes in a secret.
const BYTES: usize = 32;

/// A new secret: 64 hexadecimal digits from the system's random number generator.
///
/// # Errors
/// If the system has no random numbers to give.
pub fn new() -> Result<String, getrandom::Error> {
    let mut bytes = [0; BYTES];
    getrandom::fill(&mut bytes)?;
    Ok(hex(&bytes))
}

/// The hash under which a secret is stored.
pub fn hash(secret: &str) -> String {
    hex(&Sha256::digest(secret.as_bytes()))
}

/// The CSRF token of a session, derived from the session's secret and useless without it.
pub fn csrf(session: &str) -> String {
    hash(&format!("csrf {session}"))
}

/// Whether two secrets are equal, compared in constant time.
pub fn is_same(a: &str, b: &str) -> bool {
    a.as_bytes().ct_eq(b.as_bytes()).into()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_differ_and_are_known_by_their_hash() {
        let (one, other) = (new().unwrap(), new().unwrap());
        assert!(one.len() == 64 && one != other);
        assert!(is_same(&hash(&one), &hash(&one)) && !is_same(&hash(&one), &hash(&other)));
        assert!(csrf(&one) != hash(&one) && !is_same("", &one));
        assert_eq!(hash("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }
}
