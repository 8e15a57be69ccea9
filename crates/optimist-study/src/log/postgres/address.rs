//! The address of a database, as `libpq` and its programs take it.
//!
//! Given: `postgres://user@host/database?key=value` or `host=… dbname=…`, and an environment. Gives: what to connect with, a
//! service file, the variables `PG…` and a password file included; and the address as it may be shown, which is made from
//! the parts that are known to be harmless and never from the text. Does not know: how to connect.

use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter};
use std::fs;
use std::path::{Path, PathBuf};

use percent_encoding::percent_decode_str;

/// Keys of an address with the variable that says the same.
const KEYS: [(&str, &str); 25] = [
    ("host", "PGHOST"),
    ("hostaddr", "PGHOSTADDR"),
    ("port", "PGPORT"),
    ("dbname", "PGDATABASE"),
    ("user", "PGUSER"),
    ("password", "PGPASSWORD"),
    ("passfile", "PGPASSFILE"),
    ("service", "PGSERVICE"),
    ("sslmode", "PGSSLMODE"),
    ("sslnegotiation", "PGSSLNEGOTIATION"),
    ("sslrootcert", "PGSSLROOTCERT"),
    ("sslcert", "PGSSLCERT"),
    ("sslkey", "PGSSLKEY"),
    ("connect_timeout", "PGCONNECT_TIMEOUT"),
    ("options", "PGOPTIONS"),
    ("application_name", "PGAPPNAME"),
    ("channel_binding", "PGCHANNELBINDING"),
    ("target_session_attrs", "PGTARGETSESSIONATTRS"),
    ("load_balance_hosts", "PGLOADBALANCEHOSTS"),
    ("tcp_user_timeout", ""),
    ("keepalives", ""),
    ("keepalives_idle", ""),
    ("keepalives_interval", ""),
    ("keepalives_retries", ""),
    ("gssencmode", ""), // we never do
];

/// Where Debian's server listens when nobody says where.
const SOCKETS: &str = "/var/run/postgresql";

/// Where the key may be a part of a password, so that it can't be shown.
const UNKNOWN_KEY: &str = "it has an unknown key after a password; put a password with spaces in quotes ('…'), and write `/`, `?`, `&` and \
                           `@` in an address as %2F, %3F, %26 and %40";

/// What an address says, key by key. Values were checked to be there, and not to mean anything.
#[derive(Clone, Default)]
pub struct Address(BTreeMap<String, String>);

/// A variable of the environment.
pub type Variable<'a> = &'a dyn Fn(&str) -> Option<String>;

/// Whether a word is an address of the second kind, whichever key comes first.
pub fn is_key_value(word: &str) -> bool {
    let key = word.trim_start().split_once('=').map(|(key, _)| key.trim_end());
    key.is_some_and(|key| key == "database" || KEYS.iter().any(|(known, _)| *known == key))
}

impl Address {
    /// Reads an address of either kind.
    ///
    /// # Errors
    /// If it is none; the reason has no part of the address but names of keys.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut address = Self::default();
        match ["postgres://", "postgresql://"].iter().find_map(|scheme| text.strip_prefix(scheme)) {
            Some(rest) => address.read_url(rest)?,
            None => address.read_pairs(text)?,
        }
        Ok(address)
    }

    /// What a key says.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.0.get(key).map(String::as_str)
    }

    /// What is not said is filled in: by the service, the environment, the password file, and what is usual. `warn` is told
    /// of a password file that is not used.
    ///
    /// # Errors
    /// If there is no such service.
    pub fn completed(&self, variable: Variable<'_>, warn: &dyn Fn(&str)) -> Result<Self, String> {
        let mut address = self.clone();
        if let Some(service) = address.get("service").map(str::to_owned).or_else(|| variable("PGSERVICE")) {
            for (key, value) in service_entries(&service, variable)? {
                address.fill_in(&key, value)?;
            }
        }
        for (key, name) in KEYS.iter().filter(|(key, _)| !matches!(*key, "service" | "passfile")) {
            if let Some(value) = variable(name).filter(|value| !name.is_empty() && !value.is_empty()) {
                address.fill_in(key, value)?;
            }
        }
        match (address.get("host"), address.get("hostaddr")) {
            (None, Some(number)) => address.fill_in("host", number.to_owned())?,
            (None, None) if Path::new(SOCKETS).is_dir() => address.fill_in("host", SOCKETS.to_owned())?,
            (None, None) => address.fill_in("host", "localhost".to_owned())?,
            _ => {}
        }
        if address.get("password").is_none()
            && let Some(password) = address.password_of_file(variable, warn)
        {
            address.fill_in("password", password)?;
        }
        Ok(address)
    }

    /// The keys that the driver knows, as it reads them.
    pub fn for_driver(&self) -> String {
        let ours = [
            "sslmode",
            "sslnegotiation",
            "sslrootcert",
            "sslcert",
            "sslkey",
            "passfile",
            "service",
            "gssencmode",
        ];
        let quoted = |value: &str| value.replace('\\', "\\\\").replace('\'', "\\'");
        let pairs = self.0.iter().filter(|(key, _)| !ours.contains(&key.as_str()));
        pairs.map(|(key, value)| format!("{key}='{}' ", quoted(value))).collect()
    }

    /// Whether every server that may be meant is this machine.
    pub fn is_local(&self) -> bool {
        let hosts = self.get("hostaddr").or(self.get("host")).unwrap_or_default();
        hosts.split(',').all(|host| {
            let is_loopback = host.parse().is_ok_and(|ip: std::net::IpAddr| ip.is_loopback());
            host.starts_with('/') || host == "localhost" || is_loopback
        })
    }

    /// Whether it is reached through a socket in a folder.
    pub fn is_socket(&self) -> bool {
        self.get("hostaddr").is_none() && self.get("host").is_some_and(|host| host.starts_with('/'))
    }

    fn read_url(&mut self, rest: &str) -> Result<(), String> {
        let (authority, _) = rest.split_once(['/', '?']).unwrap_or((rest, ""));
        // A password may hold a raw `/` or `?`: the first `@` ends it then, but not that of `host:5432/lab?password=a@b`.
        let at = authority.rfind('@').or_else(|| rest.find('@').filter(|_| !are_servers(authority)));
        let (credentials, rest) = at.map_or((None, rest), |at| (Some(&rest[..at]), &rest[at + 1..]));
        if let Some(credentials) = credentials {
            let (user, password) =
                credentials.split_once(':').map_or((credentials, None), |(u, p)| (u, Some(p)));
            self.set("user", decoded(user)?)?;
            password.map_or(Ok(()), |password| self.set("password", decoded(password)?))?;
        }
        let (place, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (servers, database) = place.split_once('/').unwrap_or((place, ""));
        if place.contains('@') {
            return Err("`@` in a name or password must be written as %40".to_owned());
        }
        self.read_servers(servers)?;
        if !database.is_empty() {
            self.set("dbname", decoded(database)?)?;
        }
        // As in `postgres://me:123?secret=x@host`, where none of it was meant to be a key.
        let mut may_be_secret = query.contains('@');
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (key, value) = pair.split_once('=').ok_or("expected key=value pairs after `?`")?;
            let key = decoded(key)?;
            self.set(&key, decoded(value)?).map_err(|reason| hidden_if(may_be_secret, reason))?;
            may_be_secret |= key == "password";
        }
        Ok(())
    }

    fn read_servers(&mut self, servers: &str) -> Result<(), String> {
        if servers.is_empty() {
            return Ok(());
        }
        let (mut hosts, mut ports) = (Vec::new(), Vec::new());
        for server in servers.split(',') {
            let (host, port) = match server.strip_prefix('[').map(|rest| rest.split_once(']')) {
                Some(Some((host, port))) => (host, port.strip_prefix(':')),
                Some(None) => return Err("`[` in the host is not closed".to_owned()),
                None => server.split_once(':').map_or((server, None), |(host, port)| (host, Some(port))),
            };
            hosts.push(decoded(host)?);
            ports.push(port.filter(|port| !port.is_empty()).unwrap_or("5432").to_owned());
        }
        self.set("host", hosts.join(","))?;
        if servers.contains(':') { self.set("port", ports.join(",")) } else { Ok(()) }
    }

    /// `key = value`, with quotes around a value that has spaces; `\` takes the next character as it is.
    fn read_pairs(&mut self, text: &str) -> Result<(), String> {
        let mut rest = text.trim();
        while !rest.is_empty() {
            let (key, after) =
                rest.split_once('=').ok_or("expected key=value pairs such as host=lab dbname=studies")?;
            let after = after.trim_start();
            let is_quoted = after.starts_with('\'');
            let mut value = String::new();
            let mut chars = after.char_indices().skip(usize::from(is_quoted));
            let end = loop {
                match chars.next() {
                    Some((_, '\\')) => value.extend(chars.next().map(|(_, c)| c)),
                    Some((at, '\'')) if is_quoted => break at + 1,
                    Some((at, c)) if !is_quoted && c.is_whitespace() => break at,
                    Some((_, c)) => value.push(c),
                    None if is_quoted => return Err("a quote is not closed".to_owned()),
                    None => break after.len(),
                }
            };
            let may_be_secret = self.get("password").is_some();
            self.set(key.trim(), value).map_err(|reason| hidden_if(may_be_secret, reason))?;
            rest = after[end..].trim_start();
        }
        Ok(())
    }

    fn set(&mut self, key: &str, value: String) -> Result<(), String> {
        let key = if key == "database" { "dbname" } else { key };
        if !KEYS.iter().any(|(known, _)| *known == key) {
            return Err(format!("`{key}` is not a known key"));
        }
        self.0.insert(key.to_owned(), value);
        Ok(())
    }

    fn fill_in(&mut self, key: &str, value: String) -> Result<(), String> {
        if self.get(key).is_none() { self.set(key, value) } else { Ok(()) }
    }

    fn password_of_file(&self, variable: Variable<'_>, warn: &dyn Fn(&str)) -> Option<String> {
        let named = self.get("passfile").map(str::to_owned).or_else(|| variable("PGPASSFILE"));
        let file =
            named.map(PathBuf::from).or_else(|| Some(Path::new(&variable("HOME")?).join(".pgpass")))?;
        let text = fs::read_to_string(&file).ok()?;
        if is_open_to_others(&file) {
            warn(&format!("ignoring {}: others can read it; `chmod 600` it", file.display()));
            return None;
        }
        let host = self.get("host").filter(|host| *host != SOCKETS).unwrap_or("localhost");
        let user = self.get("user").map(str::to_owned).or_else(|| variable("USER")).unwrap_or_default();
        let user = user.as_str();
        let wanted = [host, self.get("port").unwrap_or("5432"), self.get("dbname").unwrap_or(user), user];
        text.lines().filter(|line| !line.starts_with('#')).find_map(|line| {
            let fields = unescaped_fields(line);
            let fits = |(field, wanted): (&String, &&str)| field == "*" || field == wanted;
            (fields.len() == 5 && fields.iter().zip(&wanted).all(fits)).then(|| fields[4].clone())
        })
    }
}

/// Without password, and without anything else that is not known to be harmless.
impl Display for Address {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("postgres://")?;
        if let Some(user) = self.get("user") {
            write!(f, "{user}@")?;
        }
        let host = self.get("host").or(self.get("hostaddr")).unwrap_or_default();
        let is_bare = !host.contains(':') || host.contains(',');
        if is_bare {
            f.write_str(host)?
        } else {
            write!(f, "[{host}]")?
        }
        for (key, before) in [("port", ':'), ("dbname", '/')] {
            if let Some(value) = self.get(key) {
                write!(f, "{before}{value}")?;
            }
        }
        self.get("service").map_or(Ok(()), |service| write!(f, "?service={service}"))
    }
}

/// Why a key is unknown, without the key if that may be a part of a password.
fn hidden_if(may_be_secret: bool, reason: String) -> String {
    if may_be_secret { UNKNOWN_KEY.to_owned() } else { reason }
}

/// Whether this may be hosts with ports, rather than a user with the beginning of a password.
fn are_servers(authority: &str) -> bool {
    authority.split(',').all(|server| {
        let after_host = match server.split_once(']').filter(|_| server.starts_with('[')) {
            Some((_, rest)) => rest.strip_prefix(':'),
            None => server.split_once(':').map(|(_, port)| port),
        };
        after_host.is_none_or(|port| port.bytes().all(|byte| byte.is_ascii_digit()))
    })
}

fn decoded(text: &str) -> Result<String, String> {
    let decoded = percent_decode_str(text).decode_utf8();
    decoded.map(Into::into).map_err(|_| "the characters written with % are not valid UTF-8".to_owned())
}

/// What the file of services says of this one.
fn service_entries(service: &str, variable: Variable<'_>) -> Result<Vec<(String, String)>, String> {
    let home = || Some(Path::new(&variable("HOME")?).join(".pg_service.conf"));
    let system = || Some(Path::new(&variable("PGSYSCONFDIR")?).join("pg_service.conf"));
    let files = [variable("PGSERVICEFILE").map(PathBuf::from).or_else(home), system()];
    for file in files.into_iter().flatten() {
        let text = fs::read_to_string(&file).unwrap_or_default();
        let mut lines = text.lines().map(str::trim).skip_while(|line| *line != format!("[{service}]"));
        if lines.next().is_some() {
            let entries =
                lines.take_while(|line| !line.starts_with('[')).filter_map(|line| line.split_once('='));
            return Ok(entries
                .filter(|(key, _)| !key.starts_with('#'))
                .map(|(key, value)| (key.trim().to_owned(), value.trim().to_owned()))
                .collect());
        }
    }
    Err(format!(
        "service `{service}` is neither in ~/.pg_service.conf nor in the file that PGSERVICEFILE names"
    ))
}

/// The fields of a line of a password file.
fn unescaped_fields(line: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match c {
            ':' if fields.len() < 5 => fields.push(String::new()),
            '\\' => fields.last_mut().into_iter().for_each(|field| field.extend(chars.next())),
            c => fields.last_mut().into_iter().for_each(|field| field.push(c)),
        }
    }
    fields
}

#[cfg(unix)]
fn is_open_to_others(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    fs::metadata(file).is_ok_and(|file| file.permissions().mode() & 0o077 != 0)
}

#[cfg(not(unix))]
fn is_open_to_others(_: &Path) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn whatever_is_typed_is_an_address_or_not(text in "(postgres://)?([a-z@:/?&=%'\\\\,\\[\\] ]|host=|password=|é){0,30}") {
            if let Ok(address) = Address::parse(&text) {
                let _ = (address.to_string(), address.is_local(), address.for_driver().parse::<postgres::Config>());
            }
        }

        #[test]
        fn no_password_is_shown_however_it_is_written(
            password in "SECRET[A-Z:/?&='@\\\\,\\[\\] ]{0,9}SECRET",
            form in 0..6_usize,
        ) {
            let quoted = password.replace('\\', "\\\\").replace('\'', "\\'");
            let text = match form {
                0 => format!("postgres://me:{password}@host/lab"),
                1 => format!("postgres://host/lab?password={password}"),
                2 => format!("host=host password='{quoted}' dbname=lab"),
                3 => format!("password={password} host=host dbname=lab"),
                4 => format!("postgres://host:5432,other:5433/lab?password={password}"),
                _ => format!("postgres://me:{password}@host/lab?password={password}&sslmode=nonsense"),
            };
            let storage = crate::log::Storage::postgres(&text);
            prop_assert!(!storage.to_string().contains("SECRET"), "{}", storage);
            if let Err(error) = Address::parse(&text) {
                prop_assert!(!error.contains("SECRET"), "{}", error);
            }
        }
    }

    fn shown(text: &str) -> String {
        Address::parse(text).unwrap_or_else(|error| panic!("{text}: {error}")).to_string()
    }

    #[test]
    fn passwords_are_never_shown() {
        for (text, expected) in [
            ("postgres://me:se@cret@host/lab", "postgres://me@host/lab"),
            ("postgres://me:se/cret@host:5433/lab", "postgres://me@host:5433/lab"),
            ("postgres://me:se?cret@host/lab", "postgres://me@host/lab"),
            ("postgres://me:%73ecret@host/lab", "postgres://me@host/lab"),
            ("postgresql://host/lab?user=me&password=secret", "postgres://me@host/lab"),
            ("postgres://host/lab?password=a&password=secret", "postgres://host/lab"),
            ("postgres://host/lab?p%61ssword=secret", "postgres://host/lab"),
            ("host=host dbname=lab password='my secret' user = me", "postgres://me@host/lab"),
            ("postgres://me:secret@[::1]:7/lab", "postgres://me@[::1]:7/lab"),
            ("postgres:///lab?host=/var/run&sslkey=secret", "postgres:///var/run/lab"),
            ("postgres://host/lab?password=sec@ret", "postgres://host/lab"),
            ("postgres://a:5432,[::1]:5433/lab?password=sec@ret", "postgres://a,::1:5432,5433/lab"),
        ] {
            assert_eq!(shown(text), expected);
        }
        for text in [
            "postgres://me:se@cr/et@host/lab",
            "postgres://host/lab?pasword=secret",
            "host=a password='secret",
            "host=a password=my secret dbname=lab",
            "postgres://host/lab?password=a&secret=b",
            "postgres://me:12?secret=3@host/lab",
        ] {
            let error = Address::parse(text).err().unwrap();
            assert!(!error.contains("secret") && !error.contains("cr/et"), "{error}");
        }
    }

    #[test]
    fn what_is_not_said_comes_from_the_service_the_environment_and_the_password_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name).display().to_string();
        fs::write(
            path("services"),
            "[other]\nhost=no\n[lab]\n# ours\nhost = db.lab\nport=6000\n[more]\nuser=no",
        )
        .unwrap();
        fs::write(path("pass"), "db.lab:1:*:*:no\n# x\ndb.lab:6000:studies:*:a\\:b\\\\c\n").unwrap();
        let variable = |name: &str| match name {
            "PGSERVICEFILE" => Some(path("services")),
            "PGPASSFILE" => Some(path("pass")),
            "PGUSER" => Some("me".to_owned()),
            "PGPORT" => Some("1".to_owned()),
            "PGDATABASE" => Some("studies".to_owned()),
            _ => None,
        };
        let warned = std::cell::RefCell::new(Vec::new());
        let completed = |text: &str| {
            Address::parse(text)
                .unwrap()
                .completed(&variable, &|warning| warned.borrow_mut().push(warning.to_owned()))
        };
        let address = completed("service=lab").unwrap();
        assert_eq!(address.to_string(), "postgres://me@db.lab:6000/studies?service=lab");
        assert_eq!(address.get("password"), None, "others can read the file");
        assert!(warned.borrow()[0].contains("others can read it"));
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            fs::set_permissions(path("pass"), fs::Permissions::from_mode(0o600)).unwrap();
            assert_eq!(completed("service=lab").unwrap().get("password"), Some("a:b\\c"));
            assert_eq!(completed("service=lab password=x").unwrap().get("password"), Some("x"));
        }
        assert!(completed("service=nowhere").err().unwrap().contains("`nowhere` is neither in"));
    }

    #[test]
    fn the_driver_reads_what_was_meant() {
        let address = Address::parse(r"host=h port=7 user='o\'b \\' password=x sslmode=verify-full").unwrap();
        let config: postgres::Config = address.for_driver().parse().unwrap();
        assert_eq!((config.get_user(), config.get_ports()), (Some(r"o'b \"), &[7][..]));
        for word in ["host=h dbname=d", " service = x", "password=x host=h", "sslmode=require host=h"] {
            assert!(is_key_value(word), "{word}");
        }
        assert!(!is_key_value("a=b.db") && !is_key_value("optimist.db"));
    }

    #[test]
    fn this_machine_is_told_from_others() {
        let is_local = |text: &str| Address::parse(text).unwrap().is_local();
        assert!(is_local("host=localhost") && is_local("host=127.0.0.1,::1") && is_local("host=/tmp"));
        assert!(
            !is_local("host=lab")
                && !is_local("host=localhost,lab")
                && !is_local("host=localhost hostaddr=10.0.0.1")
        );
    }
}
