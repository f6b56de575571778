use std::{collections::BTreeMap, sync::Arc, time::Duration};

use mcp::{Caller, Scope};
use secrecy::{ExposeSecret as _, SecretString};
use tempfile::TempDir;

use super::*;
use crate::{
    clock::Clock,
    store::{Place, Store, names::TokenName},
};

const SECRET: &str = "0123456789abcdef0123456789abcdef";

/// The tokens of an empty store on SQLite whose clock stands.
async fn tokens() -> (Arc<Tokens>, Clock, TempDir) {
    let dir = tempfile::tempdir().unwrap();
    let clock = Clock::set_to(1_795_996_800_000_000);
    let store = Store::open(&Place::Dir(dir.path().to_owned()), clock.clone()).await.unwrap();
    (Arc::new(Tokens::new(&store, &BTreeMap::new())), clock, dir)
}

async fn caller(tokens: &Tokens, secret: &str) -> Result<Arc<Caller>, Refused> {
    tokens.caller(&Presented::Secret(secret.as_bytes())).await
}

async fn mint(tokens: &Tokens, name: &str, stands: Option<Duration>) -> SecretString {
    let wanted = Wanted {
        name: TokenName::parse(name).unwrap(),
        scope: Scope::Write,
        profile: None,
        loci: None,
        stands,
        budget: Some(7),
    };
    tokens.mint(wanted, &Caller::new("operator", Scope::Operator)).await.unwrap().1
}

fn presented<'a>(operator: &[&'a str], authorization: &[&'a str]) -> Presented<'a> {
    let bytes = |list: &[&'a str]| list.iter().map(|text| text.as_bytes()).collect::<Vec<_>>();
    Presented::of(bytes(operator), bytes(authorization))
}

#[test]
fn a_token_is_taken_from_either_header_and_the_operators_wins() {
    let secret = Presented::Secret(SECRET.as_bytes());
    let bearer = format!("Bearer {SECRET}");
    for scheme in ["Bearer", "bearer", "BEARER"] {
        assert!(presented(&[], &[&format!("{scheme} {SECRET}")]) == secret, "{scheme}");
    }
    assert!(presented(&[SECRET], &["Basic xyz"]) == secret);
    assert!(presented(&["wrong"], &[&bearer]) == Presented::Secret(b"wrong"));
    assert!(presented(&[""], &[&bearer]) == Presented::Malformed);
    assert!(presented(&[SECRET, SECRET], &[]) == Presented::Malformed);
    assert!(presented(&[], &[&bearer, &bearer]) == Presented::Malformed);
    for odd in ["Bearer", "Bearer ", "Basic dXNlcg==", SECRET, "Bearer\u{e9}", ""] {
        assert!(presented(&[], &[odd]) == Presented::Malformed, "{odd}");
    }
    assert!(presented(&[], &[]) == Presented::Nothing);
}

#[tokio::test]
async fn no_token_refuses_everybody_and_each_token_has_its_caller() {
    let (tokens, _clock, _dir) = tokens().await;
    assert_eq!(caller(&tokens, "").await.unwrap_err(), Refused::Unconfigured);
    let nothing = tokens.caller(&Presented::Nothing).await;
    assert_eq!(nothing.unwrap_err(), Refused::Unconfigured);
    tokens.add_operator(&SECRET.into()).unwrap();
    let second = "another-token-of-enough-characters";
    tokens.add(&second.into(), Caller::new("reader", Scope::Read)).unwrap();
    let minted = mint(&tokens, "minted", None).await;
    let minted = minted.expose_secret();
    assert_eq!(caller(&tokens, SECRET).await.unwrap().name, "operator");
    assert_eq!(caller(&tokens, second).await.unwrap().name, "reader");
    let known = caller(&tokens, minted).await.unwrap();
    assert_eq!((known.name.as_str(), known.budget), ("minted", Some(7)));
    for wrong in [&SECRET[1..], &minted[1..], &minted[4..], "x"] {
        assert_eq!(caller(&tokens, wrong).await.unwrap_err(), Refused::Unknown, "{wrong}");
    }
    assert_eq!(tokens.caller(&Presented::Nothing).await.unwrap_err(), Refused::Missing);
    assert_eq!(tokens.caller(&Presented::Malformed).await.unwrap_err(), Refused::Malformed);
    let shown = format!("{tokens:?}");
    assert!(shown.contains("minted") && !shown.contains(SECRET) && !shown.contains(minted));
}

#[tokio::test]
async fn a_short_token_is_refused() {
    let (tokens, _clock, _dir) = tokens().await;
    let error = tokens.add_operator(&"0123456789abcdef0123456789abcde".into()).unwrap_err();
    assert_eq!(error.length, 31);
}

#[tokio::test]
async fn a_token_stands_until_its_last_moment_and_its_end_is_told() {
    let (tokens, clock, _dir) = tokens().await;
    tokens.add_operator(&SECRET.into()).unwrap();
    let minute = Some(Duration::from_mins(1));
    let [brief, revoked] = [mint(&tokens, "brief", minute).await, mint(&tokens, "r", None).await];
    let open = caller(&tokens, brief.expose_secret()).await.unwrap();
    let other = caller(&tokens, revoked.expose_secret()).await.unwrap();
    clock.move_by(59_999_999);
    assert_eq!(caller(&tokens, brief.expose_secret()).await, Ok(open.clone()));
    clock.move_by(1);
    assert_eq!(caller(&tokens, brief.expose_secret()).await, Err(Refused::Unknown));
    let mut keep = tokio::task::JoinSet::new();
    keep.spawn(tokens.clone().keep());
    open.ended.cancelled().await;
    assert!(!other.ended.is_cancelled());
    tokens.revoke("r", &open).await.unwrap();
    assert!(other.ended.is_cancelled(), "at once");
    assert!(!caller(&tokens, SECRET).await.unwrap().ended.is_cancelled());
}

/// Uses are written behind: none at the request, all of them once at the note, those of tokens that
/// have ended meanwhile too.
#[tokio::test]
async fn the_last_use_is_noted_behind() {
    let (tokens, clock, dir) = tokens().await;
    let names = ["one", "two", "never"];
    let mut secrets = Vec::new();
    for name in names {
        secrets.push(mint(&tokens, name, None).await);
    }
    let begin = clock.now();
    for (at, secret) in secrets.iter().take(2).enumerate() {
        clock.move_by(i64::try_from(at).unwrap() + 1);
        caller(&tokens, secret.expose_secret()).await.unwrap();
    }
    let used = tokens.uses();
    assert_eq!(
        (used.get(&1), used.get(&2), used.get(&3)),
        (Some(&(begin + 1)), Some(&(begin + 3)), None)
    );
    tokens.revoke("one", &Caller::new("operator", Scope::Operator)).await.unwrap();
    tokens.note().await.unwrap();
    tokens.note().await.unwrap();
    drop(tokens);
    let store = Store::open(&Place::Dir(dir.path().to_owned()), clock).await.unwrap();
    let mut conn = store.read().await.unwrap();
    let list = crate::store::token::list(&mut conn, "", 9).await.unwrap();
    let uses: Vec<_> = list.into_iter().map(|token| (token.name, token.last_used)).collect();
    let wanted = [("never", None), ("one", Some(begin + 1)), ("two", Some(begin + 3))];
    assert_eq!(uses, wanted.map(|(name, at)| (name.to_owned(), at)));
}

/// A replica that cannot read the store does not know any more which tokens stand.
#[tokio::test]
async fn when_the_store_is_gone_for_long_all_but_the_operators_token_end() {
    let Some(database) = fake::Database::create().await else { return };
    let place = Place::Postgres { url: database.url().into(), connections: 2 };
    let store = Store::open(&place, Clock::system()).await.unwrap();
    let tokens = Tokens::new(&store, &BTreeMap::new());
    tokens.add_operator(&SECRET.into()).unwrap();
    let minted = mint(&tokens, "minted", None).await;
    let open = caller(&tokens, minted.expose_secret()).await.unwrap();
    drop(database);
    let now = tokio::time::Instant::now();
    tokens.look_again(now).await;
    tokens.look_again(now + GRACE / 2).await;
    assert!(!open.ended.is_cancelled());
    assert_eq!(caller(&tokens, minted.expose_secret()).await, Ok(open.clone()));
    tokens.look_again(tokio::time::Instant::now() + GRACE).await;
    assert!(open.ended.is_cancelled());
    assert_eq!(caller(&tokens, minted.expose_secret()).await, Err(Refused::Unchecked));
    assert_eq!(caller(&tokens, SECRET).await.unwrap().name, "operator");
}
