//! The tokens that are known: the operator's, of the settings, and those of the store.
//!
//! The store's tokens that stand are in memory by the hash of their secrets, so that a request
//! touches no database. Making or revoking one here is seen here before the reply to that; another
//! process's is heard of through the feed, and looked for each three seconds besides. A secret that is
//! not known is looked up once more before it is refused, for a token that another replica made a
//! moment ago.
//!
//! A token that ends, by being revoked or by its time, cancels [`Caller::ended`] of everything that
//! goes on under it. Where the store cannot be read for [`GRACE`], all tokens but the operator's end:
//! nobody knows any more which of them stand.

mod keep;
mod mint;

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
    sync::Mutex as Turn,
    time::{Instant, timeout},
};
use tokio_util::sync::CancellationToken;

pub use self::mint::Wanted;
use super::{Presented, Refused, SHORTEST, TooShort};
use crate::{
    config,
    store::{
        Error, Store,
        token::{self, Token},
    },
};

/// How long a look at the store may take, or a note in it: expiries are not kept waiting by it.
const READ: Duration = Duration::from_secs(2);

/// How long tokens stand without their store being read.
pub const GRACE: Duration = Duration::from_mins(1);

/// The name of the operator's own token, which no other can have.
pub const OPERATOR: &str = "operator";

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
