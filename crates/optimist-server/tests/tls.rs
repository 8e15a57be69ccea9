//! The server's own TLS, as a client sees it that trusts its certificate.

mod common;

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::sync::Arc;

use common::Running;
use optimist_server::{ServeError, Server, Settings};
use optimist_study::Storage;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

/// A self-signed certificate for `localhost` and its key, made for these tests.
fn pem() -> (PathBuf, PathBuf) {
    let folder = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures"));
    (folder.join("tls.pem"), folder.join("tls.key"))
}

fn connect(server: &Running) -> StreamOwned<ClientConnection, TcpStream> {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_file(pem().0).unwrap()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let config = config.with_root_certificates(roots).with_no_client_auth();
    let name = ServerName::try_from("localhost").unwrap();
    let connection = ClientConnection::new(Arc::new(config), name).unwrap();
    StreamOwned::new(connection, TcpStream::connect(server.address).unwrap())
}

fn get(server: &Running, path: &str) -> String {
    let mut stream = connect(server);
    let head = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    stream.write_all(head.as_bytes()).unwrap();
    let mut text = String::new();
    let _ = stream.read_to_string(&mut text); // some servers hang up without a farewell
    text
}

#[test]
fn a_server_with_a_certificate_speaks_tls_only_and_browsers_remember_it() {
    let server = Running::local(|settings| settings.tls = Some(pem()));
    let health = get(&server, "/healthz");
    assert!(health.starts_with("HTTP/1.1 200") && health.ends_with("ok\n"), "{health}");
    assert!(health.contains("strict-transport-security: max-age="), "{health}");
    let token = server.local.clone().unwrap();
    let entered = get(&server, &format!("/login?token={token}"));
    assert!(entered.contains("__Host-optimist=") && entered.contains("; Secure"), "{entered}");
    let plain = server.ask("GET", "/healthz", &[], None);
    assert_eq!(plain.status, 0, "plain HTTP is not answered: {plain:?}");
}

#[test]
fn a_certificate_that_cannot_be_used_is_named() {
    let refused = |certificate: PathBuf, key: PathBuf| {
        let settings = Settings { tls: Some((certificate, key)), ..Settings::new(Storage::memory()) };
        match Server::bind(settings) {
            Err(error @ ServeError::Tls { .. }) => error.to_string(),
            Err(other) => panic!("{other}"),
            Ok(_) => panic!("it was taken"),
        }
    };
    let (certificate, key) = pem();
    let missing = refused(PathBuf::from("nowhere.pem"), key.clone());
    assert!(missing.starts_with("nowhere.pem: ") && missing.contains("--tls-cert"), "{missing}");
    let swapped = refused(key, certificate);
    assert!(swapped.contains("tls.key: ") || swapped.contains("tls.pem: "), "{swapped}");
}
