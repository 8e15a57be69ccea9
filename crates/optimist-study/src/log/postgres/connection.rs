//! The way to a server: encrypted as asked for, never silent for long, and without passwords for all to read.
//!
//! Given: a socket from the driver, which takes this for its encryption. Gives: a stream on which a server that does not
//! answer in time is an error, and so is one that asks for a password in clear text where others could
//! listen. Does not know: addresses, statements.

use std::future::Future;
use std::io::{self, ErrorKind};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use postgres::Socket;
use postgres::tls::{ChannelBinding, MakeTlsConnect, TlsConnect, TlsStream};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadBuf};
use tokio::time::{Instant, Sleep};
use tokio_postgres_rustls::MakeRustlsConnect;

/// Asks the server whether it can encrypt.
const SSL_REQUEST: [u8; 8] = [0, 0, 0, 8, 4, 210, 22, 47];

/// Before a server has said how it wants to be convinced, it has little to say.
const LONGEST_MESSAGE: usize = 1 << 16;

type Encrypted = <MakeRustlsConnect as MakeTlsConnect<Socket>>::Stream;

/// What encrypts, or does not.
#[derive(Clone)]
pub struct Connector {
    /// `None`: do not even ask.
    pub tls: Option<MakeRustlsConnect>,
    /// Give up rather than go without.
    pub is_required: bool,
    /// The server is not asked whether it can (`sslnegotiation=direct`).
    pub is_direct: bool,
    /// Nobody can listen: the server is this machine.
    pub is_local: bool,
    /// How long it is waited for.
    pub watch: Watch,
}

/// What the user of a connection and the stream below it share.
#[derive(Clone, Default)]
pub struct Watch(Arc<Mutex<Watched>>);

#[derive(Default)]
struct Watched {
    /// When something was last asked for, or heard.
    last: Option<Instant>,
    /// How long it may be until something is heard again.
    patience: Duration,
    could_not_encrypt: bool,
}

impl Watch {
    /// From now on an answer is waited for, this long.
    pub fn begin(&self, patience: Duration) {
        let last = Some(Instant::now());
        self.with(|watched| *watched = Watched { last, patience, could_not_encrypt: false });
    }

    /// Whether the server said that it can encrypt, and then it did not work.
    pub fn could_not_encrypt(&self) -> bool {
        self.with(|watched| watched.could_not_encrypt)
    }

    fn heard(&self) {
        self.with(|watched| watched.last = Some(Instant::now()));
    }

    fn deadline(&self) -> Instant {
        self.with(|watched| watched.last.unwrap_or_else(Instant::now) + watched.patience)
    }

    fn silent(&self) -> io::Error {
        let seconds = self.with(|watched| watched.patience.as_secs());
        io::Error::new(ErrorKind::TimedOut, format!("no answer for {seconds} s"))
    }

    fn with<T>(&self, work: impl FnOnce(&mut Watched) -> T) -> T {
        work(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl MakeTlsConnect<Socket> for Connector {
    type Stream = Stream;
    type TlsConnect = Negotiation;
    type Error = io::Error;

    fn make_tls_connect(&mut self, host: &str) -> io::Result<Negotiation> {
        Ok(Negotiation { connector: self.clone(), host: host.to_owned() })
    }
}

/// A connection that is about to be made.
pub struct Negotiation {
    connector: Connector,
    host: String,
}

impl TlsConnect<Socket> for Negotiation {
    type Stream = Stream;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<Stream>> + Send>>;

    fn connect(self, socket: Socket) -> Self::Future {
        Box::pin(async move {
            let watch = self.connector.watch.clone();
            tokio::time::timeout_at(watch.deadline(), self.negotiate(socket))
                .await
                .unwrap_or_else(|_| Err(watch.silent()))
        })
    }
}

impl Negotiation {
    async fn negotiate(self, mut socket: Socket) -> io::Result<Stream> {
        let Connector { tls, is_required, is_direct, is_local, watch } = self.connector;
        let transport = match tls {
            Some(mut tls) if is_direct || can_encrypt(&mut socket).await? => {
                let tls = MakeTlsConnect::<Socket>::make_tls_connect(&mut tls, &self.host)
                    .map_err(io::Error::other)?;
                let encrypted = tls.connect(socket).await;
                watch.with(|watched| watched.could_not_encrypt = encrypted.is_err());
                Transport::Encrypted(Box::new(encrypted?))
            }
            Some(_) if is_required => {
                let reason = "sslmode requires encryption, which the server does not offer";
                return Err(io::Error::new(ErrorKind::Unsupported, reason));
            }
            _ => Transport::Plain(socket, (!is_local).then(Listener::default)),
        };
        let patience = Box::pin(tokio::time::sleep_until(watch.deadline()));
        Ok(Stream { transport, watch, patience })
    }
}

async fn can_encrypt(socket: &mut Socket) -> io::Result<bool> {
    socket.write_all(&SSL_REQUEST).await?;
    Ok(socket.read_u8().await? == b'S')
}

/// A connection to a server.
pub struct Stream {
    transport: Transport,
    watch: Watch,
    patience: Pin<Box<Sleep>>,
}

enum Transport {
    /// Unencrypted. Where others could listen, a listener notices if the server asks for a password.
    Plain(Socket, Option<Listener>),
    Encrypted(Box<Encrypted>),
}

impl AsyncRead for Stream {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let Self { transport, watch, patience } = self.get_mut();
        let before = buffer.filled().len();
        let read = match transport {
            Transport::Plain(socket, _) => Pin::new(socket).poll_read(cx, buffer),
            Transport::Encrypted(stream) => Pin::new(stream).poll_read(cx, buffer),
        };
        if read.is_pending() {
            patience.as_mut().reset(watch.deadline());
            ready!(patience.as_mut().poll(cx));
            return Poll::Ready(Err(watch.silent()));
        }
        watch.heard();
        if let Transport::Plain(_, Some(listener)) = transport {
            listener.hear(&buffer.filled()[before..])?;
        }
        read
    }
}

impl AsyncWrite for Stream {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match &mut self.get_mut().transport {
            Transport::Plain(socket, _) => Pin::new(socket).poll_write(cx, bytes),
            Transport::Encrypted(stream) => Pin::new(stream).poll_write(cx, bytes),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.get_mut().transport {
            Transport::Plain(socket, _) => Pin::new(socket).poll_flush(cx),
            Transport::Encrypted(stream) => Pin::new(stream).poll_flush(cx),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.get_mut().transport {
            Transport::Plain(socket, _) => Pin::new(socket).poll_shutdown(cx),
            Transport::Encrypted(stream) => Pin::new(stream).poll_shutdown(cx),
        }
    }
}

impl TlsStream for Stream {
    fn channel_binding(&self) -> ChannelBinding {
        match &self.transport {
            Transport::Plain(..) => ChannelBinding::none(),
            Transport::Encrypted(stream) => stream.channel_binding(),
        }
    }
}

/// Listens to the beginning of what a server says, until it has said how it wants to be convinced.
#[derive(Default)]
struct Listener {
    heard: Vec<u8>,
    is_done: bool,
}

impl Listener {
    /// A message is a letter, its length, and that much; `R` is about authentication, and 3 a password in clear text.
    fn hear(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.is_done {
            return Ok(());
        }
        self.heard.extend(bytes);
        while let [letter, length @ ..] = &self.heard[..]
            && let Some((length, rest)) = length.split_first_chunk::<4>()
        {
            if *letter == b'R' {
                let Some(wish) = rest.first_chunk::<4>() else { return Ok(()) };
                self.is_done = true;
                return if u32::from_be_bytes(*wish) == 3 { Err(in_clear_text()) } else { Ok(()) };
            }
            let length = (u32::from_be_bytes(*length) as usize).saturating_add(1).max(5);
            if length > LONGEST_MESSAGE {
                return Err(io::Error::new(ErrorKind::InvalidData, "this is not a PostgreSQL server"));
            }
            if self.heard.len() < length {
                return Ok(());
            }
            self.heard.drain(..length);
        }
        Ok(())
    }
}

fn in_clear_text() -> io::Error {
    let reason = "the server wants the password in clear text over a connection that is not encrypted; have it \
                  encrypt connections (sslmode=require), or use scram-sha-256";
    io::Error::new(ErrorKind::PermissionDenied, reason)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn whatever_is_said_little_of_it_is_kept(said in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..40), 0..40)) {
            let mut listener = Listener::default();
            let _ = said.iter().try_for_each(|piece| listener.hear(piece));
            prop_assert!(listener.heard.len() <= LONGEST_MESSAGE + 40);
        }
    }

    #[test]
    fn the_wish_for_a_password_in_clear_text_is_heard_in_pieces_and_after_other_messages() {
        let (notice, clear) = ([&b"N\0\0\0\x06"[..], b"ab"].concat(), b"R\0\0\0\x08\0\0\0\x03".to_vec());
        let scram = b"R\0\0\0\x17\0\0\0\x0aSCRAM-SHA-256\0\0".to_vec();
        let is_refused = |said: &[u8], piece: usize| {
            let mut listener = Listener::default();
            said.chunks(piece).any(|piece| listener.hear(piece).is_err())
        };
        for piece in 1..12 {
            assert!(
                is_refused(&clear, piece) && is_refused(&[notice.clone(), clear.clone()].concat(), piece)
            );
            assert!(
                !is_refused(&scram, piece) && !is_refused(&[scram.clone(), clear.clone()].concat(), piece)
            );
        }
        assert!(!is_refused(b"E\0\0\0\0\0\0\0\0\0", 3), "nonsense ends");
    }
}
