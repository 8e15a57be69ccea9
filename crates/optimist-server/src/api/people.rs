//! Routes for users and tokens.

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
    let me =
        Route::new((Method::GET, "/me"), ("me", Need::View, "Get your own name and role"), me).gives::<Me>();
    let (path, what) = at(Method::GET, "/users", "users", "List users");
    let list_users = Route::new(path, what, users).gives::<Users>();
    let (path, what) = at(Method::POST, "/users", "add_user", "Add a user");
    let add = Route::new(path, what, add_user).body::<NewUser>().gives::<User>();
    let (path, what) = at(Method::PATCH, "/users/{user}", "change_user", "Change a user's role or password");
    let change = Route::new(path, what, change_user).body::<UserChange>().gives::<User>();
    let (path, what) = at(Method::DELETE, "/users/{user}", "remove_user", "Remove a user");
    let remove = Route::new(path, what, remove_user).gives::<Removed>();
    let (path, what) = at(Method::GET, "/tokens", "tokens", "List tokens");
    let list_tokens = Route::new(path, what, tokens).gives::<Tokens>();
    let (path, what) = at(Method::POST, "/tokens", "create_token", "Create a token");
    let create = Route::new(path, what, create_token).body::<NewToken>().gives::<CreatedToken>();
    let (path, what) = at(Method::DELETE, "/tokens/{token}", "revoke_token", "Revoke a token");
    let revoke = Route::new(path, what, revoke_token).gives::<Removed>();
    vec![me, list_users, add, change, remove, list_tokens, create, revoke]
}

/// The name and role of the client.
#[derive(Serialize, JsonSchema)]
struct Me {
    name: String,
    role: Role,
    /// The only study it can see; null for all studies.
    study: Option<String>,
}

async fn me(who: Identity) -> Answer<Me> {
    Answer(Me { name: who.name, role: who.role, study: who.study })
}

/// Reads or changes the accounts.
async fn with<T: Send + 'static>(
    app: &App,
    using: impl FnOnce(&mut Ledger, &mut dyn optimist_study::log::Log) -> Result<T, AccountError> + Send + 'static,
) -> Result<T, Problem> {
    app.blocking(move |app| app.door.with(&app.studies, using)).await
}

/// All users, by name.
#[derive(Serialize, JsonSchema)]
struct Users {
    users: Vec<User>,
}

/// A user, who can log in.
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

/// A user to add.
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

/// Changes to a user. Fields that are left out stay as they are.
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

/// What was removed: the name of a user, or the id of a token.
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

/// All tokens, by id.
#[derive(Serialize, JsonSchema)]
struct Tokens {
    tokens: Vec<Token>,
}

/// A token, without its secret, which the server doesn't know.
#[derive(Serialize, JsonSchema)]
struct Token {
    id: String,
    name: String,
    role: Role,
    study: Option<String>,
    /// When it expires: milliseconds since 1970. Null means never.
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

/// A token to create.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct NewToken {
    role: Role,
    /// What the token is for; recorded as `by` in the log. Default: made from its id.
    #[serde(default)]
    #[schemars(length(min = 1, max = 64))]
    name: Option<String>,
    /// The only study it gives access to. Default: all studies.
    #[serde(default)]
    study: Option<String>,
    /// How long it is valid, in seconds. Default: for ever.
    #[serde(default)]
    #[schemars(range(min = 1, max = 3_000_000_000_u64))]
    expires: Option<u64>,
}

/// A new token. Its secret is shown only this once.
#[derive(Serialize, JsonSchema)]
struct CreatedToken {
    id: String,
    /// The secret: send it as `Authorization: Bearer TOKEN`, or set it as `OPTIMIST_TOKEN`.
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
