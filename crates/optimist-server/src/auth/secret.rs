//! Random words that nobody guesses, and what is stored of them: a hash, which is enough, as they are too long to be guessed.

use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

/// Bytes of chance in a secret.
const BYTES: usize = 32;

/// A new secret: 64 hexadecimal digits from the system's source of chance.
///
/// # Errors
/// If the system has none.
pub fn new() -> Result<String, getrandom::Error> {
    let mut bytes = [0; BYTES];
    getrandom::fill(&mut bytes)?;
    Ok(hex(&bytes))
}

/// What is stored of a secret.
pub fn hash(secret: &str) -> String {
    hex(&Sha256::digest(secret.as_bytes()))
}

/// What a browser shows to prove that a page of ours sent it, made from the secret of its session and useless without.
pub fn csrf(session: &str) -> String {
    hash(&format!("csrf {session}"))
}

/// Whether they are the same, in a time that does not tell where they differ.
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
