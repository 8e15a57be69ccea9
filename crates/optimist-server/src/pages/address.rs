//! Where the pages of a study are: its name, as a part of an address.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

/// All but letters, digits and these.
const PART: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// A study, as addresses have it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    /// As people write it.
    pub name: String,
    encoded: String,
}

impl Address {
    pub fn new(name: &str) -> Self {
        // A part that is only dots would be taken for a step up.
        let encoded = encoded(name);
        let encoded = if encoded.chars().all(|c| c == '.') { encoded.replace('.', "%2E") } else { encoded };
        Self { name: name.to_owned(), encoded }
    }

    /// A page of the study: `rest` is empty or begins with a slash.
    pub fn path(&self, rest: &str) -> String {
        format!("/studies/{}{rest}", self.encoded)
    }

    /// Something of the study in the API.
    pub fn api(&self, rest: &str) -> String {
        format!("/api/v1/studies/{}{rest}", self.encoded)
    }
}

/// Text as a part of an address or a value of a query.
pub fn encoded(text: &str) -> String {
    utf8_percent_encode(text, PART).to_string()
}

/// Pairs as the query of an address, with its question mark; empty values are left out.
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
