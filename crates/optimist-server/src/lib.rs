//! Studies over HTTP: an API, pages, and who may do what.
//!
//! Given: a storage, and how to listen. Gives: a server that keeps the state of each study and follows its log, so that a request
//! costs what is new. Does not know: anything about trials that `optimist-study` lacks.
//!
//! | module | what it holds |
//! |---|---|
//! | `app` | what all requests share |
//! | `studies` | the state of each study, and how it follows its log |
//! | `auth` | who asks, and what they may do |
//! | `api` | `/api/v1`, from one table of routes |
//! | `pages` | what people see in a browser |
//! | `guard` | what every request passes before it is answered |
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
