//! Sockets: TLS, time limits, the limit on connections, and the graceful stop.

use std::convert::Infallible;
use std::io;
use std::net::{IpAddr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use optimist_study::StorageError;
use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::{Semaphore, watch};
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;
use tower::ServiceExt;

use crate::app::App;
use crate::guard::Peer;
use crate::settings::Settings;

/// How long a client may take for its TLS handshake, and for the head of each request.
const HEAD: Duration = Duration::from_secs(10);

/// How long running requests may take to finish when the server stops.
const FAREWELL: Duration = Duration::from_secs(10);

/// The most connections at a time; others wait.
const CONNECTIONS: usize = 2048;

/// How long to wait before trying again when accepting a connection fails.
const BREATH: Duration = Duration::from_millis(100);

/// Why a server cannot be started.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// Its storage cannot be used.
    #[error(transparent)]
    Storage(#[from] StorageError),
    /// The address is in use, or belongs to another machine.
    #[error("cannot listen on {address}: {reason}; choose another address or port with --listen")]
    Listen {
        /// The address to listen on.
        address: SocketAddr,
        /// The system's error.
        reason: io::Error,
    },
    /// Other machines can reach the address, but nobody could log in.
    #[error(
        "{address} can be reached from other machines, but there are no users; add one with `optimist user add NAME --role admin`, \
         or listen on 127.0.0.1"
    )]
    NoUsers {
        /// The address to listen on.
        address: SocketAddr,
    },
    /// Passwords would cross the network unencrypted.
    #[error(
        "{address} can be reached from other machines, so passwords would cross the network unencrypted; pass --tls-cert and --tls-key, \
         name your TLS proxy with --proxy, or pass --insecure if you trust the network"
    )]
    NoTls {
        /// The address to listen on.
        address: SocketAddr,
    },
    /// A certificate or a key cannot be used.
    #[error("{}: {reason}; pass PEM files: the certificate chain to --tls-cert and its private key to --tls-key", path.display())]
    Tls {
        /// The PEM file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The system could not start threads or watch sockets.
    #[error("cannot start the server: {0}")]
    System(#[from] io::Error),
}

/// A server whose socket is bound.
pub struct Server {
    app: App,
    listener: TcpListener,
    tls: Option<TlsAcceptor>,
}

/// Stops a server.
#[derive(Clone)]
pub struct Stop(watch::Sender<bool>);

impl Stop {
    /// Accepts no new connections, lets running requests finish, and closes event streams.
    pub fn stop(&self) {
        self.0.send_replace(true);
    }
}

impl Server {
    /// Opens the storage and the socket.
    ///
    /// # Errors
    /// If storage or socket can't be opened, or if the settings would be insecure (see [`ServeError`]).
    pub fn bind(settings: Settings) -> Result<Self, ServeError> {
        let address = settings.listen;
        let tls = settings.tls.as_ref().map(|(certificate, key)| acceptor(certificate, key)).transpose()?;
        if !settings.is_local() && tls.is_none() && settings.proxies.is_empty() && !settings.insecure {
            return Err(ServeError::NoTls { address });
        }
        let is_local = settings.is_local();
        let app = App::new(settings)?;
        if !is_local && !app.door.has_users(&app.studies)? {
            return Err(ServeError::NoUsers { address });
        }
        let unheard = |reason| ServeError::Listen { address, reason };
        let listener = TcpListener::bind(address).map_err(unheard)?;
        listener.set_nonblocking(true).map_err(unheard)?;
        Ok(Self { app, listener, tls })
    }

    /// The application behind the socket.
    pub fn app(&self) -> &App {
        &self.app
    }

    /// The address it listens on, with the actual port if the settings said port 0.
    ///
    /// # Errors
    /// If the system doesn't tell the socket's address.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// The link to open in a browser; on a local server without users it includes the startup token.
    ///
    /// # Errors
    /// If the system doesn't tell the socket's address.
    pub fn link(&self) -> io::Result<String> {
        let (scheme, address) = (if self.tls.is_some() { "https" } else { "http" }, self.address()?);
        let token = self.app.door.local_token();
        Ok(token.map_or_else(
            || format!("{scheme}://{address}/"),
            |token| format!("{scheme}://{address}/login?token={token}"),
        ))
    }

    /// A handle that stops the server from any thread.
    pub fn stop(&self) -> Stop {
        Stop(self.app.stopping.clone())
    }

    /// Serves until it is stopped.
    ///
    /// # Errors
    /// If the system can't start threads.
    pub fn run(self) -> Result<(), ServeError> {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
        let result = runtime.block_on(self.serve());
        runtime.shutdown_timeout(FAREWELL); // a model may still be fitting
        result
    }

    async fn serve(self) -> Result<(), ServeError> {
        let listener = tokio::net::TcpListener::from_std(self.listener)?;
        let watching = tokio::spawn(self.app.clone().watch());
        let (router, graceful) = (self.app.router(), GracefulShutdown::new());
        let places = Arc::new(Semaphore::new(CONNECTIONS));
        let mut stopping = self.app.stopping.subscribe();
        loop {
            let accepted = tokio::select! {
                _ = stopping.wait_for(|stops| *stops) => break,
                accepted = accept(&listener, &places) => accepted,
            };
            let Some((stream, peer, place)) = accepted else { continue };
            let (router, tls, watcher) = (router.clone(), self.tls.clone(), graceful.watcher());
            tokio::spawn(async move {
                match tls {
                    None => converse(stream, peer, router, watcher).await,
                    Some(tls) => {
                        if let Ok(Ok(stream)) = timeout(HEAD, tls.accept(stream)).await {
                            converse(stream, peer, router, watcher).await;
                        }
                    }
                }
                drop(place);
            });
        }
        drop(listener);
        let _ = timeout(FAREWELL, graceful.shutdown()).await;
        let _ = watching.await;
        Ok(())
    }
}

/// The next connection, once there is a place for it.
async fn accept(
    listener: &tokio::net::TcpListener,
    places: &Arc<Semaphore>,
) -> Option<(tokio::net::TcpStream, IpAddr, tokio::sync::OwnedSemaphorePermit)> {
    let place = places.clone().acquire_owned().await.ok()?;
    match listener.accept().await {
        Ok((stream, peer)) => {
            let _ = stream.set_nodelay(true);
            Some((stream, peer.ip(), place))
        }
        Err(_) => {
            tokio::time::sleep(BREATH).await;
            None
        }
    }
}

/// Answers the requests of one connection.
async fn converse(
    stream: impl AsyncRead + AsyncWrite + Unpin + 'static,
    peer: IpAddr,
    router: Router,
    watcher: hyper_util::server::graceful::Watcher,
) {
    let answer = hyper::service::service_fn(move |request: hyper::Request<Incoming>| {
        let mut request = request.map(Body::new);
        request.extensions_mut().insert(Peer(peer));
        let router = router.clone();
        async move { router.oneshot(request).await.map_err(|never: Infallible| never) }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD)
        .max_buf_size(1 << 16)
        .serve_connection(TokioIo::new(stream), answer);
    let _ = watcher.watch(connection).await; // clients may hang up at any time
}

fn acceptor(certificate: &Path, key: &Path) -> Result<TlsAcceptor, ServeError> {
    let bad = |path: &Path, reason: String| ServeError::Tls { path: path.to_owned(), reason };
    let chain = CertificateDer::pem_file_iter(certificate).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    let chain = chain.map_err(|error| bad(certificate, error.to_string()))?;
    let private = PrivateKeyDer::from_pem_file(key).map_err(|error| bad(key, error.to_string()))?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let versions = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let config = versions.and_then(|builder| builder.with_no_client_auth().with_single_cert(chain, private));
    let config = config.map_err(|error| bad(certificate, error.to_string()))?;
    Ok(TlsAcceptor::from(Arc::new(config)))
}
