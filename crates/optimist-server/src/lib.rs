//! Studies over HTTP: an API, pages, and who may do what.
//!
//! Given: a storage, and how to listen. Gives: a server that keeps the state of each study in memory and follows its log, so a
//! request only reads what is new. Does not know: anything about trials that `optimist-study` lacks.
//!
//! | module | what it holds |
//! |---|---|
//! | `app` | the state that all requests share |
//! | `studies` | the state of each study, and how it follows its log |
//! | `auth` | authentication, roles, accounts |
//! | `api` | `/api/v1`, from one table of routes |
//! | `pages` | the dashboard |
//! | `guard` | the checks that every request passes first |
//! | `listen` | sockets, TLS, time limits, the graceful stop |

mod api;
mod app;
mod auth;
mod guard;
mod listen;
mod metrics;
mod pages;
mod problem;
mod settings;
mod studies;

pub use app::App;
pub use auth::Role;
pub use auth::accounts;
pub use auth::ledger::{AccountError, Ledger};
pub use auth::secret::csrf;
pub use listen::{ServeError, Server, Stop};
pub use settings::Settings;
