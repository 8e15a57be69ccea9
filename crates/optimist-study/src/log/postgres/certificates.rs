//! Whom to trust: encryption as an address asks for it.
//!
//! Given: `sslmode`, `sslrootcert`, `sslcert` and `sslkey`, which mean what they mean to `libpq`. Gives: settings of rustls
//! for connections to PostgreSQL. (`log/http.rs` has its own, for servers.)

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{WebPkiServerVerifier, verify_server_name};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};

use super::address::Address;

/// What `sslmode` asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SslMode {
    /// Never encrypt, even if the server offers it.
    Disable,
    /// Encrypt where the server can; the default.
    Prefer,
    /// Encrypt, without checking who the server is.
    Require,
    /// Encrypt, and require a certificate signed by a trusted authority.
    VerifyCa,
    /// And it is a certificate of that host.
    VerifyFull,
}

/// What the address asks for.
///
/// # Errors
/// If that is none of the words there are.
pub fn ssl_mode(address: &Address) -> Result<SslMode, String> {
    Ok(match address.get("sslmode") {
        Some("disable") => SslMode::Disable,
        None | Some("prefer" | "allow") => SslMode::Prefer,
        Some("require") if address.get("sslrootcert").is_some() => SslMode::VerifyCa,
        Some("require") => SslMode::Require,
        Some("verify-ca") => SslMode::VerifyCa,
        Some("verify-full") => SslMode::VerifyFull,
        Some(_) => {
            return Err("sslmode must be disable, prefer, require, verify-ca or verify-full".to_owned());
        }
    })
}

/// How to encrypt.
///
/// # Errors
/// If a certificate or a key cannot be read, or there is nobody to trust.
pub fn client_config(address: &Address, mode: SslMode) -> Result<ClientConfig, String> {
    let provider = Arc::new(ring::default_provider());
    let builder =
        ClientConfig::builder_with_provider(Arc::clone(&provider)).with_safe_default_protocol_versions();
    let builder = builder.map_err(|error| error.to_string())?;
    let verifier = Verifier::new(address, mode, provider)?;
    let builder = builder.dangerous().with_custom_certificate_verifier(Arc::new(verifier));
    let (own, key) = (file(address, "sslcert", "postgresql.crt"), file(address, "sslkey", "postgresql.key"));
    let mut config = match (own.filter(|file| file.exists() || address.get("sslcert").is_some()), key) {
        (Some(own), Some(key)) => {
            let chain = certificates("sslcert", &own)?;
            let key =
                PrivateKeyDer::from_pem_file(&key).map_err(|error| unreadable("sslkey", &key, &error))?;
            builder.with_client_auth_cert(chain, key).map_err(|error| format!("sslcert: {error}"))?
        }
        _ => builder.with_no_client_auth(),
    };
    if address.get("sslnegotiation") == Some("direct") {
        config.alpn_protocols = vec![b"postgresql".to_vec()];
    }
    Ok(config)
}

/// Believes a server as far as the mode asks for it.
#[derive(Debug)]
struct Verifier {
    provider: Arc<CryptoProvider>,
    /// `None` if any certificate will do.
    chain: Option<Arc<WebPkiServerVerifier>>,
    /// A server's own certificate may be among these, as with one that signed itself.
    trusted: Vec<CertificateDer<'static>>,
    checks_name: bool,
}

impl Verifier {
    fn new(address: &Address, mode: SslMode, provider: Arc<CryptoProvider>) -> Result<Self, String> {
        let checks_name = mode == SslMode::VerifyFull;
        if !matches!(mode, SslMode::VerifyCa | SslMode::VerifyFull) {
            return Ok(Self { provider, chain: None, trusted: Vec::new(), checks_name });
        }
        let trusted = match (address.get("sslrootcert"), file(address, "sslrootcert", "root.crt")) {
            (Some("system"), _) => rustls_native_certs::load_native_certs().certs,
            (_, Some(file)) => certificates("sslrootcert", &file)?,
            (_, None) => return Err("sslrootcert must name the certificates to trust".to_owned()),
        };
        let mut roots = RootCertStore::empty();
        roots.add_parsable_certificates(trusted.iter().cloned());
        let chain =
            WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::clone(&provider)).build();
        let chain = Some(chain.map_err(|error| format!("sslrootcert: {error}"))?);
        Ok(Self { provider, chain, trusted, checks_name })
    }
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        use CertificateError::{NotValidForName, NotValidForNameContext};
        let Some(chain) = &self.chain else { return Ok(ServerCertVerified::assertion()) };
        if self.trusted.iter().any(|trusted| trusted.as_ref() == end_entity.as_ref()) {
            if self.checks_name {
                verify_server_name(&ParsedCertificate::try_from(end_entity)?, name)?;
            }
            return Ok(ServerCertVerified::assertion());
        }
        match chain.verify_server_cert(end_entity, intermediates, name, ocsp, now) {
            // The chain is looked at first.
            Err(Error::InvalidCertificate(NotValidForName | NotValidForNameContext { .. }))
                if !self.checks_name =>
            {
                Ok(ServerCertVerified::assertion())
            }
            verified => verified,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(
            message,
            certificate,
            signature,
            &self.provider.signature_verification_algorithms,
        )
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(
            message,
            certificate,
            signature,
            &self.provider.signature_verification_algorithms,
        )
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

/// What a key names, or else the usual file.
fn file(address: &Address, key: &str, usual: &str) -> Option<PathBuf> {
    let home = || std::env::var_os("HOME").map(|home| Path::new(&home).join(".postgresql").join(usual));
    address.get(key).map(PathBuf::from).or_else(home)
}

fn certificates(key: &str, file: &Path) -> Result<Vec<CertificateDer<'static>>, String> {
    let read = CertificateDer::pem_file_iter(file).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    match read {
        Ok(found) if found.is_empty() => Err(format!("{key}: there is no certificate in {}", file.display())),
        read => read.map_err(|error| unreadable(key, file, &error)),
    }
}

fn unreadable(key: &str, file: &Path, error: &rustls::pki_types::pem::Error) -> String {
    format!("{key}: cannot read {}: {error}", file.display())
}
