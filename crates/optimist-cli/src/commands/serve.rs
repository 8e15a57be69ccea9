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
  optimist serve                                        for you, on this machine: open the link that is printed
  optimist user add anna --role admin                   then, for everybody who may log in:
  optimist serve --listen 0.0.0.0:8150 --tls-cert lab.pem --tls-key lab.key --host lab.example.org
  optimist serve --proxy 127.0.0.1 --host lab.example.org        behind a proxy on this machine that does TLS
  OPTIMIST_TOKEN=... optimist worker film --storage https://lab.example.org:8150 --file film.toml

Workers, `ask` and `tell`, every command and the Python package take the server as --storage. A study cannot be given a
command over HTTP, unless it is one of --allow-command.

Exit status: 0 if it was stopped, 1 if it cannot serve, 2 if the command line is wrong.";

/// Options of `optimist serve`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct ServeArgs {
    #[command(flatten)]
    storage: StorageArgs,
    /// Listen on this address and port
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:8150")]
    listen: SocketAddr,
    /// Do TLS with this certificate chain (PEM)
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    tls_cert: Option<PathBuf>,
    /// ... and this private key (PEM)
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,
    /// Believe what the proxy at this address says of who asks (X-Forwarded-For, -Proto, -Host); may be given several times
    #[arg(long, value_name = "ADDRESS")]
    proxy: Vec<IpAddr>,
    /// A name by which people reach the server; may be given several times
    #[arg(long, value_name = "NAME")]
    host: Vec<String>,
    /// Let studies that come over HTTP have this command, word for word (a JSON array if words have spaces); may be given
    /// several times
    #[arg(long, value_name = "COMMAND", value_parser = words)]
    allow_command: Vec<AllowedCommand>,
    /// Let passwords cross the network readable
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

/// Serves until it is stopped; errors are printed by `main`.
pub fn execute(args: ServeArgs) -> anyhow::Result<ExitCode> {
    let storage = args.storage.storage()?;
    if storage.is_remote() {
        bail!("{storage} is a server already; give --storage where its studies are kept");
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
            "whoever has this link may do everything; `optimist user add` lets people log in instead. Ctrl-C stops the server",
        );
    }
    server.run()?;
    handle.close();
    let _ = waiting.join();
    say("stopped");
    Ok(ExitCode::SUCCESS)
}

/// A command that may be run: program and arguments.
#[derive(Debug, Clone, PartialEq)]
pub struct AllowedCommand(pub Vec<String>);

/// The words of a command: as spaces part them, or as a JSON array where words have spaces.
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
