//! Who asks, and what they may do.
//!
//! | module | what it holds |
//! |---|---|
//! | `role` | roles, and what each may do |
//! | `identity` | who asks, for handlers |
//! | `accounts` | users, tokens and sessions, as a fold over records |
//! | `ledger` | where these records are kept, and what can be done to accounts |
//! | `secret`, `password` | random words and what is stored of them; argon2id |
//! | `throttle` | how often somebody may try |
//! | `door` | finds out who asks |
//! | `login` | the routes by which people come in and leave |

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
pub use login::routes;
pub use role::{Need, Role};
