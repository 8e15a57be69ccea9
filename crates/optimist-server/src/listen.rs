//! Sockets: TLS, time limits, how many at a time, and the graceful stop.

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

/// A client has this long for its TLS handshake, and for the head of each request.
const HEAD: Duration = Duration::from_secs(10);

/// Requests under way have this long to end when the server stops.
const FAREWELL: Duration = Duration::from_secs(10);

/// Connections at a time; others wait.
const CONNECTIONS: usize = 2048;

/// How long to wait when the system has no socket to give.
const BREATH: Duration = Duration::from_millis(100);

/// Why a server cannot be started.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// Its storage cannot be used.
    #[error(transparent)]
    Storage(#[from] StorageError),
    /// The address is taken, or not of this machine.
    #[error("cannot listen on {address}: {reason}; choose another address or port with --listen")]
    Listen {
        /// Where it was to listen.
        address: SocketAddr,
        /// What the system said.
        reason: io::Error,
    },
    /// Others than this machine can reach it, and nobody could log in.
    #[error(
        "{address} can be reached from other machines, and there are no users; make one with `optimist user add NAME --role admin`, \
         or listen on 127.0.0.1"
    )]
    NoUsers {
        /// Where it was to listen.
        address: SocketAddr,
    },
    /// Passwords would cross the network readable.
    #[error(
        "{address} can be reached from other machines, and passwords would cross the network readable; give --tls-cert and --tls-key, \
         name the proxy that does TLS with --proxy, or say --insecure if the network is trusted"
    )]
    NoTls {
        /// Where it was to listen.
        address: SocketAddr,
    },
    /// A certificate or a key cannot be used.
    #[error("{}: {reason}; give PEM files, the certificate chain to --tls-cert and its private key to --tls-key", path.display())]
    Tls {
        /// Which file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The system gave no threads or no events.
    #[error("cannot start the server: {0}")]
    System(#[from] io::Error),
}

/// A server that has its socket.
pub struct Server {
    app: App,
    listener: TcpListener,
    tls: Option<TlsAcceptor>,
}

/// Stops a server.
#[derive(Clone)]
pub struct Stop(watch::Sender<bool>);

impl Stop {
    /// Takes no new requests, ends those under way, and says so to those who listen.
    pub fn stop(&self) {
        self.0.send_replace(true);
    }
}

impl Server {
    /// Opens the storage and the socket.
    ///
    /// # Errors
    /// If one cannot be opened, or it would let in whom it should not.
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

    /// What it serves.
    pub fn app(&self) -> &App {
        &self.app
    }

    /// Where it listens; with the port that the system chose, if it was to choose one.
    ///
    /// # Errors
    /// If the system does not say.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// What people open in a browser: with the token of a local server without users.
    ///
    /// # Errors
    /// If the system does not say where it listens.
    pub fn link(&self) -> io::Result<String> {
        let (scheme, address) = (if self.tls.is_some() { "https" } else { "http" }, self.address()?);
        let token = self.app.door.local_token();
        Ok(token.map_or_else(
            || format!("{scheme}://{address}/"),
            |token| format!("{scheme}://{address}/login?token={token}"),
        ))
    }

    /// What stops it, from any thread.
    pub fn stop(&self) -> Stop {
        Stop(self.app.stopping.clone())
    }

    /// Serves until it is stopped.
    ///
    /// # Errors
    /// If the system gives no threads.
    pub fn run(self) -> Result<(), ServeError> {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
        let result = runtime.block_on(self.serve());
        runtime.shutdown_timeout(FAREWELL); // somebody's model may still be fitted
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
    let _ = watcher.watch(connection).await; // a client that went away is no trouble of ours
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
