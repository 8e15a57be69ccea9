//! `optimist serve`: studies over HTTP.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, bail};
use clap::{Args, ValueEnum};
use optimist_server::{Server, Settings};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::show::{print, say};
use crate::storage::StorageArgs;

const EXAMPLES: &str = "\
Examples:
  optimist serve                        for yourself, on this machine
  optimist user add anna --role admin   for everyone who can log in:
  optimist serve --listen 0.0.0.0:8150 --host lab.example.org \\
      --tls-cert lab.pem --tls-key lab.key
  optimist serve --proxy 127.0.0.1 --host lab.example.org   behind a TLS proxy
  OPTIMIST_TOKEN=... optimist worker film --file film.toml \\
      --storage https://lab.example.org:8150

Every command and the Python package accept the server as --storage. Studies
created over HTTP can only have commands that --allow-command names.

Exit status: 0 if the server was stopped, 1 if it can't serve, 2 if the
command line is wrong.";

/// Options of `optimist serve`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct ServeArgs {
    #[command(flatten)]
    storage: StorageArgs,
    /// Listen on this address and port
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:8150")]
    listen: SocketAddr,
    /// Use TLS with this certificate chain (PEM)
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    tls_cert: Option<PathBuf>,
    /// ... and this private key (PEM)
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,
    /// Trust X-Forwarded-For, -Proto and -Host from the proxy at this address; can be repeated
    #[arg(long, value_name = "ADDRESS")]
    proxy: Vec<IpAddr>,
    /// A host name under which people reach the server; can be repeated
    #[arg(long, value_name = "NAME", value_parser = host)]
    host: Vec<String>,
    /// Allow studies created over HTTP to use this command, word for word (a JSON array if words have spaces); can be repeated
    #[arg(long, value_name = "COMMAND", value_parser = words)]
    allow_command: Vec<AllowedCommand>,
    /// Allow passwords over unencrypted connections
    #[arg(long)]
    insecure: bool,
    /// Log each request on standard error
    #[arg(long, value_name = "FORMAT")]
    log: Option<LogFormat>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum LogFormat {
    /// A JSON object per line
    Json,
}

/// Serves until it is stopped.
pub fn execute(args: ServeArgs) -> anyhow::Result<ExitCode> {
    let storage = args.storage.storage()?;
    if storage.is_remote() {
        bail!("{storage} is already a server; --storage must be where its studies are stored");
    }
    let server = Server::bind(Settings {
        listen: args.listen,
        tls: args.tls_cert.zip(args.tls_key),
        insecure: args.insecure,
        proxies: args.proxy,
        hosts: args.host,
        commands: args.allow_command.into_iter().map(|AllowedCommand(words)| words).collect(),
        log_json: args.log.is_some(),
        ..Settings::new(storage)
    })?;
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP]).context("cannot listen for Ctrl-C")?;
    let (stop, handle) = (server.stop(), signals.handle());
    let waiting = std::thread::spawn(move || {
        if signals.forever().next().is_some() {
            stop.stop();
        }
    });
    print(format!("serving at {}", server.link()?))?;
    if server.app().door().local_token().is_some() {
        say(
            "anyone with this link has full access; `optimist user add` lets people log in instead. Ctrl-C stops the server",
        );
    }
    server.run()?;
    handle.close();
    let _ = waiting.join();
    say("stopped");
    Ok(ExitCode::SUCCESS)
}

/// A host name as browsers send it, but without a port: any port is allowed.
fn host(name: &str) -> Result<String, String> {
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '.' | '-' | '_');
    match name.trim_end_matches('.') {
        plain if !plain.is_empty() && plain.chars().all(is_plain) => Ok(plain.to_owned()),
        _ => Err("expected a name without scheme and port, such as lab.example.org".to_owned()),
    }
}

/// A command that may be run: program and arguments.
#[derive(Debug, Clone, PartialEq)]
pub struct AllowedCommand(pub Vec<String>);

/// The words of a command: separated by spaces, or a JSON array where words have spaces.
pub fn words(command: &str) -> Result<AllowedCommand, String> {
    let words: Vec<String> = match command.trim_start().starts_with('[') {
        true => serde_json::from_str(command)
            .map_err(|error| format!("this is not an array of words: {error}"))?,
        false => command.split_whitespace().map(str::to_owned).collect(),
    };
    if words.is_empty() {
        Err("a command has at least one word".to_owned())
    } else {
        Ok(AllowedCommand(words))
    }
}
