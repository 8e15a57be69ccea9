//! Authentication and permissions.
//!
//! | module | what it holds |
//! |---|---|
//! | `role` | roles, and what each may do |
//! | `identity` | the authenticated user or token, for handlers |
//! | `accounts` | users, tokens and sessions, as a fold over records |
//! | `ledger` | where these records are kept, and what can be done to accounts |
//! | `secret`, `password` | random secrets and their hashes; argon2id |
//! | `throttle` | growing pauses after failed logins |
//! | `door` | authenticates requests |
//! | `login` | the routes for logging in and out |

pub mod accounts;
mod door;
mod identity;
pub mod ledger;
mod login;
mod password;
mod role;
pub mod secret;
mod throttle;

pub use door::Door;
pub use identity::{Identity, unknown};
pub use login::{login_address, routes};
pub use role::{Need, Role};
