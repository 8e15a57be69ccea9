//! Addresses of the pages of a study, with its name encoded.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

/// What is percent-encoded: everything but letters, digits, `-`, `_`, `.` and `~`.
const PART: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// A study's name, plain and as a part of addresses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    /// The plain name.
    pub name: String,
    encoded: String,
}

impl Address {
    pub fn new(name: &str) -> Self {
        // `..` would mean the parent folder.
        let encoded = encoded(name);
        let encoded = if encoded.chars().all(|c| c == '.') { encoded.replace('.', "%2E") } else { encoded };
        Self { name: name.to_owned(), encoded }
    }

    /// The address of a page of the study; `rest` is empty or starts with a slash.
    pub fn path(&self, rest: &str) -> String {
        format!("/studies/{}{rest}", self.encoded)
    }

    /// The address of an API route of the study; `rest` is empty or starts with a slash.
    pub fn api(&self, rest: &str) -> String {
        format!("/api/v1/studies/{}{rest}", self.encoded)
    }
}

/// Text encoded as a path segment or a query value.
pub fn encoded(text: &str) -> String {
    utf8_percent_encode(text, PART).to_string()
}

/// A query string with its question mark; pairs with an empty value are left out.
pub fn query<'q>(pairs: impl IntoIterator<Item = (&'q str, String)>) -> String {
    let pairs = pairs.into_iter().filter(|(_, value)| !value.is_empty());
    let pairs: Vec<String> = pairs.map(|(key, value)| format!("{key}={}", encoded(&value))).collect();
    if pairs.is_empty() { String::new() } else { format!("?{}", pairs.join("&")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_stays_one_part_of_an_address() {
        assert_eq!(Address::new("a/b c?").path("/trials"), "/studies/a%2Fb%20c%3F/trials");
        assert_eq!(Address::new("..").path(""), "/studies/%2E%2E");
        assert_eq!(Address::new("ß\"<").api("/events"), "/api/v1/studies/%C3%9F%22%3C/events");
    }

    #[test]
    fn a_query_has_no_empty_values() {
        assert_eq!(query([("a", String::new())]), "");
        assert_eq!(
            query([("filter", "x<1 & y".to_owned()), ("b", String::new())]),
            "?filter=x%3C1%20%26%20y"
        );
    }
}
