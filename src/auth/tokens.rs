//! The tokens that are known: the operator's, of the settings, and those of the store.
//!
//! The store's tokens that stand are in memory by the hash of their secrets, so that a request
//! touches no database. Making or revoking one here is seen here before the reply to that; another
//! process's is heard of through the feed, and looked for each [`LOOK`] besides. A secret that is
//! not known is looked up once more before it is refused, for a token that another replica made a
//! moment ago.
//!
//! A token that ends, by being revoked or by its time, cancels [`Caller::ended`] of everything that
//! goes on under it. Where the store cannot be read for [`GRACE`], all tokens but the operator's end:
//! nobody knows any more which of them stand.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicI64, Ordering},
    },
    time::Duration,
};

use arc_swap::ArcSwap;
use mcp::{Caller, Profile, Rights, Scope};
use secrecy::{ExposeSecret as _, SecretString};
use sha2::{Digest as _, Sha256};
use subtle::{Choice, ConstantTimeEq as _};
use tokio::{
    sync::{Mutex as Turn, watch},
    time::{Instant, sleep_until, timeout},
};
use tokio_util::sync::CancellationToken;

use super::{Presented, Refused, SHORTEST, TooShort};
use crate::{
    config, ids,
    store::{
        Committed, Error, Store,
        names::{Locus, TokenName},
        token::{self, New, Token},
    },
};

/// How long a change of another process may go unnoticed where the feed says nothing of it.
const LOOK: Duration = Duration::from_secs(3);

/// How long a look at the store may take, or a note in it: expiries are not kept waiting by it.
const READ: Duration = Duration::from_secs(2);

/// How long tokens stand without their store being read.
pub const GRACE: Duration = Duration::from_mins(1);

/// How often it is noted when tokens were last used.
const NOTE: Duration = Duration::from_mins(1);

/// How often rows that are not needed any more are removed.
const PRUNE: Duration = Duration::from_hours(1);

/// The name of the operator's own token, which no other can have.
pub const OPERATOR: &str = "operator";

/// What a secret of the store's tokens begins with, so that scanners know one where it does not
/// belong.
const PREFIX: &str = "adj_";

type Hash = [u8; 32];

/// See the module.
pub struct Tokens {
    store: Store,
    profiles: BTreeMap<String, Profile>,
    /// Tokens that are in no store.
    given: ArcSwap<Vec<(Hash, Arc<Caller>)>>,
    minted: ArcSwap<Table>,
    /// Uses of tokens that stand no more, by their numbers, which the store does not know yet.
    late: Mutex<HashMap<i64, i64>>,
    /// When the newest look at the store began. Whoever has it may look.
    looked: Turn<Option<Instant>>,
    /// Since when the store cannot be read.
    unread: Mutex<Option<Instant>>,
}

/// The store's tokens that stood when it was last read.
#[derive(Default)]
struct Table {
    revision: i64,
    by_hash: HashMap<Hash, Arc<Minted>>,
}

struct Minted {
    id: i64,
    caller: Arc<Caller>,
    expires: Option<i64>,
    /// When it was last used here, and of that what the store knows; 0: never.
    used: AtomicI64,
    noted: AtomicI64,
}

/// A token that is wanted.
#[derive(Debug, Clone)]
pub struct Wanted {
    /// Its name.
    pub name: TokenName,
    /// What it may do.
    pub scope: Scope,
    /// The profile of the settings that says which tools it has.
    pub profile: Option<String>,
    /// The loci whose records it reaches; `None`: all.
    pub loci: Option<BTreeSet<Locus>>,
    /// How long it stands; `None`: until it is revoked.
    pub stands: Option<Duration>,
    /// What it may spend in a day of UTC, in millionths of a US dollar; `None`: no bound.
    pub budget: Option<i64>,
}

impl std::fmt::Debug for Tokens {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names = |callers: &mut dyn Iterator<Item = &Arc<Caller>>| {
            callers.map(|caller| caller.name.clone()).collect::<Vec<_>>()
        };
        let (given, minted) = (self.given.load(), self.minted.load());
        f.debug_struct("Tokens")
            .field("given", &names(&mut given.iter().map(|(_, caller)| caller)))
            .field("minted", &names(&mut minted.by_hash.values().map(|minted| &minted.caller)))
            .finish_non_exhaustive()
    }
}

impl Tokens {
    /// The tokens of the store, with the profiles of the settings. Nothing is read yet.
    pub fn new(store: &Store, profiles: &BTreeMap<String, config::Profile>) -> Self {
        let set = |names: &Option<Vec<String>>| names.clone().map(BTreeSet::from_iter);
        let profiles = profiles.iter().map(|(name, profile)| {
            let (allowed, listed) = (set(&profile.allowed), set(&profile.listed));
            (name.clone(), Profile { allowed, listed })
        });
        Self {
            store: store.clone(),
            profiles: profiles.collect(),
            given: ArcSwap::default(),
            minted: ArcSwap::from_pointee(Table { revision: -1, ..Table::default() }),
            late: Mutex::default(),
            looked: Turn::default(),
            unread: Mutex::default(),
        }
    }

    /// Knows the operator's own token from now on.
    ///
    /// # Errors
    /// When it is too short.
    pub fn add_operator(&self, secret: &SecretString) -> Result<(), TooShort> {
        self.add(secret, Caller::new(OPERATOR, Scope::Operator))
    }

    /// Knows one more token from now on, which is in no store.
    ///
    /// # Errors
    /// When it is too short.
    pub fn add(&self, secret: &SecretString, caller: Caller) -> Result<(), TooShort> {
        let text = secret.expose_secret().trim();
        let length = text.chars().count();
        if length < SHORTEST {
            return Err(TooShort { length });
        }
        let (hash, caller) = (hash(text.as_bytes()), Arc::new(caller));
        self.given.rcu(|given| {
            let mut given = given.as_ref().clone();
            given.push((hash, caller.clone()));
            given
        });
        Ok(())
    }

    /// The caller that what was presented stands for. Hashes are compared, in constant time.
    ///
    /// # Errors
    /// See [`Refused`].
    pub fn caller<'t>(
        &'t self,
        presented: &Presented<'_>,
    ) -> impl Future<Output = Result<Arc<Caller>, Refused>> + Send + use<'t> {
        let secret = match presented {
            Presented::Nothing => Err(Refused::Missing),
            Presented::Malformed => Err(Refused::Malformed),
            Presented::Secret(secret) => Ok(hash(secret)),
        };
        async move {
            let known = secret.map(|secret| self.known(&secret));
            match (secret, known) {
                (_, Ok(Some(caller))) => Ok(caller),
                (Ok(secret), _) => {
                    self.look(Instant::now()).await.map_err(|_| Refused::Unchecked)?;
                    self.known(&secret).ok_or_else(|| self.refused(Refused::Unknown))
                }
                (Err(refused), _) => Err(self.refused(refused)),
            }
        }
    }

    fn known(&self, secret: &Hash) -> Option<Arc<Caller>> {
        let mut found = None;
        for (hash, caller) in self.given.load().iter() {
            let same: Choice = hash.ct_eq(secret);
            if bool::from(same) {
                found = Some(caller.clone());
            }
        }
        if found.is_some() {
            return found;
        }
        let table = self.minted.load();
        // The table finds its place by a digest that nobody can choose.
        let (hash, minted) = table.by_hash.get_key_value(secret)?;
        let now = self.store.now();
        if !bool::from(hash.ct_eq(secret)) || minted.expires.is_some_and(|at| at <= now) {
            return None;
        }
        minted.used.fetch_max(now, Ordering::Relaxed);
        Some(minted.caller.clone())
    }

    /// A server without any token says so.
    fn refused(&self, refused: Refused) -> Refused {
        let none = self.given.load().is_empty() && self.minted.load().by_hash.is_empty();
        if none { Refused::Unconfigured } else { refused }
    }

    /// Makes a token; its secret is given here and nowhere again.
    ///
    /// # Errors
    /// [`Error::Invalid`] for what cannot be meant, with the profiles that there are;
    /// [`Error::Conflict`] for a name that is taken.
    pub async fn mint(
        &self,
        wanted: Wanted,
        creator: &Caller,
    ) -> Result<(Token, SecretString, Committed), Error> {
        self.check(&wanted)?;
        let made = ids::secret().map_err(|error| Error::Internal(error.to_string()))?;
        let secret = SecretString::from(format!("{PREFIX}{made}"));
        let new = New {
            name: wanted.name,
            hash: hash(secret.expose_secret().as_bytes()),
            scope: wanted.scope,
            profile: wanted.profile,
            loci: wanted.loci,
            stands: wanted.stands,
            budget: wanted.budget,
            creator: creator.name.clone(),
        };
        let (token, committed) = token::mint(&self.store, &new).await?;
        self.see().await;
        tracing::info!(
            token = token.name,
            scope = token.scope.as_str(),
            by = creator.name,
            "the token `{}` was made",
            token.name
        );
        Ok((token, secret, committed))
    }

    fn check(&self, wanted: &Wanted) -> Result<(), Error> {
        if wanted.name.as_str() == OPERATOR {
            return Err(Error::Invalid(format!(
                "the name `{OPERATOR}` is that of the operator's own token: take another one"
            )));
        }
        if let Some(profile) = &wanted.profile
            && !self.profiles.contains_key(profile)
        {
            let profile = crate::untrusted::one_line(profile, 80);
            return Err(Error::Invalid(if self.profiles.is_empty() {
                format!(
                    "there is no profile `{profile}`, nor any other: write `[profiles.{profile}]` into adjutant.toml, or leave `profile` out"
                )
            } else {
                let there: Vec<String> =
                    self.profiles.keys().map(|name| format!("`{name}`")).collect();
                format!("there is no profile `{profile}`: the profiles are {}", there.join(", "))
            }));
        }
        let bound = match wanted {
            Wanted { loci: Some(_), .. } => Some("loci"),
            Wanted { budget: Some(_), .. } => Some("budget"),
            _ => None,
        };
        match bound {
            Some(bound) if wanted.scope == Scope::Operator => Err(Error::Invalid(format!(
                "a token of scope `operator` can make others without a bound: leave its {bound} out, or give it a lesser scope"
            ))),
            _ => Ok(()),
        }
    }

    /// Revokes a token of the store. `None` for one that was revoked already.
    ///
    /// # Errors
    /// [`Error::NotFound`]; [`Error::Invalid`] for the operator's own.
    pub async fn revoke(
        &self,
        name: &str,
        revoker: &Caller,
    ) -> Result<(Token, Option<Committed>), Error> {
        if name == OPERATOR {
            return Err(Error::Invalid(
                "the operator's own token is not revoked here: change `auth.operator_token`, or remove the file `operator.token` of the data directory, and start the server again".to_owned(),
            ));
        }
        let (token, committed) = token::revoke(&self.store, name).await?;
        self.see().await;
        if committed.is_some() {
            tracing::info!(
                token = token.name,
                by = revoker.name,
                "the token `{}` was revoked",
                token.name
            );
        }
        Ok((token, committed))
    }

    /// When each token was last used here, by its number, which the store may not know yet.
    pub fn uses(&self) -> HashMap<i64, i64> {
        let table = self.minted.load();
        let used = table.by_hash.values().map(|m| (m.id, m.used.load(Ordering::Relaxed)));
        let late = lock(&self.late).clone();
        used.filter(|(_, at)| *at > 0).chain(late).collect()
    }

    /// Whether the settings have that profile.
    pub fn has_profile(&self, name: &str) -> bool {
        self.profiles.contains_key(name)
    }

    /// Looks at the store after a change of our own. Where it cannot be read, [`Tokens::keep`] looks
    /// again.
    async fn see(&self) {
        if let Err(error) = self.look(Instant::now()).await {
            tracing::warn!(detail = ?error, "the tokens cannot be read: it is tried again");
        }
    }

    /// Reads the tokens if there are others than before. Of many at once that wait, one reads for
    /// all who came before it began.
    async fn look(&self, came: Instant) -> Result<(), Error> {
        let mut looked = self.looked.lock().await;
        if looked.is_some_and(|began| began >= came) {
            return Ok(());
        }
        let began = Instant::now();
        let read = timeout(READ, self.read()).await.unwrap_or_else(|_| Err(late(false)));
        match &read {
            Ok(()) => {
                *looked = Some(began);
                *lock(&self.unread) = None;
            }
            Err(_) => {
                lock(&self.unread).get_or_insert(began);
            }
        }
        read
    }

    async fn read(&self) -> Result<(), Error> {
        let mut conn = self.store.read().await?;
        let revision = token::revision(&mut conn).await?;
        if revision == self.minted.load().revision {
            return Ok(());
        }
        let rows = token::standing(&mut conn, self.store.now()).await?;
        drop(conn);
        let known = self.minted.load_full();
        let by_hash = rows.into_iter().map(|(token, hash)| {
            let known = known.by_hash.get(&hash).filter(|minted| minted.id == token.id);
            (hash, known.cloned().unwrap_or_else(|| Arc::new(self.minted(token))))
        });
        self.put(Table { revision, by_hash: by_hash.collect() });
        Ok(())
    }

    /// A token as it stands in memory. What it may do never changes.
    fn minted(&self, token: Token) -> Minted {
        let profile = match &token.profile {
            None => Profile::default(),
            Some(name) => self.profiles.get(name).cloned().unwrap_or_else(|| {
                tracing::warn!(token = token.name, profile = name, "the token `{}` has the profile `{name}`, which the settings do not have: it has no tools", token.name);
                let none = Some(BTreeSet::new());
                Profile { allowed: none.clone(), listed: none }
            }),
        };
        let last_used = token.last_used.unwrap_or(0);
        Minted {
            id: token.id,
            caller: Arc::new(Caller {
                name: token.name,
                rights: Rights { scope: token.scope, loci: token.loci },
                profile,
                budget: token.budget.map(|budget| u64::try_from(budget).unwrap_or(0)),
                ended: CancellationToken::new(),
            }),
            expires: token.expires,
            used: AtomicI64::new(last_used),
            noted: AtomicI64::new(last_used),
        }
    }

    /// Takes a table, and ends what stands in it no more.
    fn put(&self, table: Table) {
        let before = self.minted.swap(Arc::new(table));
        let after = self.minted.load();
        for (hash, minted) in &before.by_hash {
            if !after.by_hash.get(hash).is_some_and(|kept| Arc::ptr_eq(kept, minted)) {
                minted.caller.ended.cancel();
                let used = minted.used.load(Ordering::Relaxed);
                if used > minted.noted.load(Ordering::Relaxed) {
                    lock(&self.late).insert(minted.id, used);
                }
            }
        }
    }

    /// Ends tokens whose time has come; when the next one's comes, in microseconds of UTC.
    fn expire(&self) -> Option<i64> {
        let (now, table) = (self.store.now(), self.minted.load());
        let mut next: Option<i64> = None;
        for minted in table.by_hash.values() {
            match minted.expires {
                Some(at) if at <= now => minted.caller.ended.cancel(),
                Some(at) => next = Some(next.map_or(at, |next| next.min(at))),
                None => {}
            }
        }
        next
    }

    /// Notes in the store when tokens were last used.
    ///
    /// # Errors
    /// Those of the store; it is noted with the next call then.
    pub async fn note(&self) -> Result<(), Error> {
        let table = self.minted.load_full();
        let uses: Vec<(&Arc<Minted>, i64)> = table
            .by_hash
            .values()
            .map(|minted| (minted, minted.used.load(Ordering::Relaxed)))
            .filter(|(minted, used)| *used > minted.noted.load(Ordering::Relaxed))
            .collect();
        let late = lock(&self.late).clone();
        let known = uses.iter().map(|(minted, used)| (minted.id, *used));
        let rows: Vec<(i64, i64)> = known.chain(late).collect();
        if rows.is_empty() {
            return Ok(());
        }
        token::used(&self.store, &rows).await?;
        for (minted, used) in uses {
            minted.noted.fetch_max(used, Ordering::Relaxed);
        }
        lock(&self.late).retain(|id, at| !rows.contains(&(*id, *at)));
        Ok(())
    }

    /// Keeps the tokens as the store has them, for as long as it is polled.
    pub async fn keep(self: Arc<Self>) {
        let mut newest = self.store.feed().watch_within();
        let mut cursor = *newest.borrow_and_update();
        let (mut look, mut note) = (Instant::now(), Instant::now() + NOTE);
        let mut prune = Instant::now();
        loop {
            let next = self.expire();
            let wait =
                next.map(|at| Duration::from_micros((at - self.store.now()).max(0).unsigned_abs()));
            let ends = wait.and_then(|wait| Instant::now().checked_add(wait)).unwrap_or(look);
            tokio::select! {
                told = told(&self.store, &mut newest, &mut cursor) => if told { look = Instant::now() },
                () = sleep_until(look.min(ends)) => {}
            }
            let now = Instant::now();
            if now >= look {
                look = now + LOOK;
                self.look_again(now).await;
            }
            if now >= note {
                note = now + NOTE;
                self.tidy(false).await;
            }
            if now >= prune {
                prune = now + PRUNE;
                self.tidy(true).await;
            }
        }
    }

    pub(super) async fn look_again(&self, now: Instant) {
        let Err(error) = self.look(now).await else { return };
        let unread = *lock(&self.unread);
        if unread.is_some_and(|since| now >= since + GRACE)
            && !self.minted.load().by_hash.is_empty()
        {
            tracing::error!(detail = ?error, "the tokens could not be read for {}: all but the operator's end", humantime::format_duration(GRACE));
            self.put(Table { revision: -1, ..Table::default() });
        } else {
            tracing::warn!(detail = ?error, "the tokens cannot be read: it is tried again");
        }
    }

    async fn tidy(&self, prunes: bool) {
        let done = async {
            self.note().await?;
            if prunes {
                token::prune(&self.store).await?;
                crate::store::budget::prune(&self.store).await?;
            }
            Ok::<(), Error>(())
        };
        if let Err(error) = timeout(READ, done).await.unwrap_or_else(|_| Err(late(true))) {
            tracing::warn!(detail = ?error, "when tokens were last used cannot be noted: it is tried again");
        }
    }
}

/// Waits for news of the feed; whether they are of tokens.
async fn told(store: &Store, newest: &mut watch::Receiver<i64>, cursor: &mut i64) -> bool {
    while *newest.borrow_and_update() <= *cursor {
        if newest.changed().await.is_err() {
            // The feed ends with the store, which is held.
            std::future::pending::<()>().await;
        }
    }
    let seen = *newest.borrow();
    while *cursor < seen {
        match store.events(*cursor, 1, |event| event.kind == token::KIND).await {
            Ok(Ok(page)) if page.events.is_empty() && page.next > *cursor => *cursor = page.next,
            // News of tokens, or of anything: it was not possible to tell.
            _ => {
                *cursor = seen;
                return true;
            }
        }
    }
    false
}

fn late(writing: bool) -> Error {
    Error::Unavailable { writing, detail: "the database did not answer in time".to_owned() }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn hash(secret: &[u8]) -> Hash {
    Sha256::digest(secret).into()
}
