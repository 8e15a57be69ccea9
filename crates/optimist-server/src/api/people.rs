//! Users and tokens, for admins.

use std::time::Duration;

use axum::extract::State;
use axum::http::{Method, StatusCode};
use axum::response::IntoResponse;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::take::{Json, Named, short};
use super::{Answer, Route};
use crate::app::App;
use crate::auth::ledger::{AccountError, Ledger};
use crate::auth::{Identity, Need, Role};
use crate::problem::Problem;

pub fn routes() -> Vec<Route> {
    let at = |method, path, id, summary| ((method, path), (id, Need::Administer, summary));
    let me = Route::new((Method::GET, "/me"), ("me", Need::View, "Who you are here"), me).gives::<Me>();
    let (path, what) = at(Method::GET, "/users", "users", "Who may log in");
    let list_users = Route::new(path, what, users).gives::<Users>();
    let (path, what) = at(Method::POST, "/users", "add_user", "Lets somebody log in");
    let add = Route::new(path, what, add_user).body::<NewUser>().gives::<User>();
    let (path, what) =
        at(Method::PATCH, "/users/{user}", "change_user", "Gives somebody another role or password");
    let change = Route::new(path, what, change_user).body::<UserChange>().gives::<User>();
    let (path, what) =
        at(Method::DELETE, "/users/{user}", "remove_user", "Does not let somebody log in any more");
    let remove = Route::new(path, what, remove_user).gives::<Removed>();
    let (path, what) = at(Method::GET, "/tokens", "tokens", "Which programs may come in");
    let list_tokens = Route::new(path, what, tokens).gives::<Tokens>();
    let (path, what) = at(Method::POST, "/tokens", "create_token", "Lets a program come in");
    let create = Route::new(path, what, create_token).body::<NewToken>().gives::<CreatedToken>();
    let (path, what) =
        at(Method::DELETE, "/tokens/{token}", "revoke_token", "Does not let a program come in any more");
    let revoke = Route::new(path, what, revoke_token).gives::<Removed>();
    vec![me, list_users, add, change, remove, list_tokens, create, revoke]
}

/// Who you are here.
#[derive(Serialize, JsonSchema)]
struct Me {
    name: String,
    role: Role,
    /// The only study that you may see, if you may not see all.
    study: Option<String>,
}

async fn me(who: Identity) -> Answer<Me> {
    Answer(Me { name: who.name, role: who.role, study: who.study })
}

/// Uses the accounts.
async fn with<T: Send + 'static>(
    app: &App,
    using: impl FnOnce(&mut Ledger, &mut dyn optimist_study::log::Log) -> Result<T, AccountError> + Send + 'static,
) -> Result<T, Problem> {
    app.blocking(move |app| app.door.with(&app.studies, using)).await
}

/// Who may log in.
#[derive(Serialize, JsonSchema)]
struct Users {
    users: Vec<User>,
}

/// Somebody who may log in.
#[derive(Serialize, JsonSchema)]
struct User {
    name: String,
    role: Role,
}

async fn users(State(app): State<App>) -> Result<Answer<Users>, Problem> {
    with(&app, |ledger, _| {
        let user =
            |(name, user): (&String, &crate::accounts::User)| User { name: name.clone(), role: user.role };
        Ok(Answer(Users { users: ledger.accounts().users.iter().map(user).collect() }))
    })
    .await
}

/// Somebody to let in.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct NewUser {
    #[schemars(length(min = 1, max = 64))]
    name: String,
    role: Role,
    #[schemars(length(min = 10, max = 256))]
    password: String,
}

async fn add_user(
    State(app): State<App>,
    who: Identity,
    Json(new): Json<NewUser>,
) -> Result<impl IntoResponse, Problem> {
    let user = User { name: new.name.clone(), role: new.role };
    with(&app, move |ledger, log| ledger.add_user(log, &new.name, new.role, &new.password, Some(&who.name)))
        .await?;
    Ok((StatusCode::CREATED, Answer(user)))
}

/// What to change about a user.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct UserChange {
    #[serde(default)]
    role: Option<Role>,
    #[serde(default)]
    #[schemars(length(min = 10, max = 256))]
    password: Option<String>,
}

async fn change_user(
    State(app): State<App>,
    who: Identity,
    Named(name): Named<String>,
    Json(change): Json<UserChange>,
) -> Result<Answer<User>, Problem> {
    with(&app, move |ledger, log| {
        let by = Some(who.name.as_str());
        if let Some(password) = change.password {
            ledger.change_password(log, &name, &password, by)?;
        }
        if let Some(role) = change.role {
            ledger.change_role(log, &name, role, by)?;
        }
        let role = ledger.accounts().users.get(&name).map(|user| user.role);
        let role = role.ok_or_else(|| AccountError::NoUser { name: name.clone() })?;
        Ok(Answer(User { name, role }))
    })
    .await
}

/// It is gone.
#[derive(Serialize, JsonSchema)]
struct Removed {
    removed: String,
}

async fn remove_user(
    State(app): State<App>,
    who: Identity,
    Named(name): Named<String>,
) -> Result<Answer<Removed>, Problem> {
    with(&app, move |ledger, log| {
        ledger.remove_user(log, &name, Some(&who.name))?;
        Ok(Answer(Removed { removed: name }))
    })
    .await
}

/// Which programs may come in.
#[derive(Serialize, JsonSchema)]
struct Tokens {
    tokens: Vec<Token>,
}

/// A program that may come in. The token itself is known to nobody but that program.
#[derive(Serialize, JsonSchema)]
struct Token {
    id: String,
    name: String,
    role: Role,
    study: Option<String>,
    /// When it ends: milliseconds since 1970.
    until: Option<u64>,
}

async fn tokens(State(app): State<App>) -> Result<Answer<Tokens>, Problem> {
    with(&app, |ledger, _| {
        let token = |(id, token): (&String, &crate::accounts::Token)| Token {
            id: id.clone(),
            name: token.name.clone(),
            role: token.role,
            study: token.study.clone(),
            until: token.until,
        };
        Ok(Answer(Tokens { tokens: ledger.accounts().tokens.iter().map(token).collect() }))
    })
    .await
}

/// A program to let in.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct NewToken {
    role: Role,
    /// What it is for. Default: its id.
    #[serde(default)]
    #[schemars(length(min = 1, max = 64))]
    name: Option<String>,
    /// The only study that it is for. Default: all.
    #[serde(default)]
    study: Option<String>,
    /// After how many seconds it ends. Default: never.
    #[serde(default)]
    #[schemars(range(min = 1, max = 3_000_000_000_u64))]
    expires: Option<u64>,
}

/// A token, shown this once.
#[derive(Serialize, JsonSchema)]
struct CreatedToken {
    id: String,
    /// To be sent as `Authorization: Bearer TOKEN`, or to be set as `OPTIMIST_TOKEN`.
    token: String,
}

async fn create_token(
    State(app): State<App>,
    who: Identity,
    Json(new): Json<NewToken>,
) -> Result<impl IntoResponse, Problem> {
    short("name", new.name.as_ref(), 64)?;
    if let Some(bad) = new.expires.filter(|expires| !(1..=3_000_000_000).contains(expires)) {
        return Err(Problem::bad_request(format!("`expires` must be 1 to 3000000000 seconds, got {bad}")));
    }
    let created = with(&app, move |ledger, log| {
        let lasts = new.expires.map(Duration::from_secs);
        let grant = (new.role, new.study.as_deref());
        let (id, token) = ledger.create_token(log, new.name.as_deref(), grant, lasts, Some(&who.name))?;
        Ok(Answer(CreatedToken { id, token }))
    });
    Ok((StatusCode::CREATED, created.await?))
}

async fn revoke_token(
    State(app): State<App>,
    who: Identity,
    Named(id): Named<String>,
) -> Result<Answer<Removed>, Problem> {
    with(&app, move |ledger, log| {
        ledger.revoke_token(log, &id, Some(&who.name))?;
        Ok(Answer(Removed { removed: id }))
    })
    .await
}
