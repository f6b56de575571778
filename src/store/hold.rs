//! What transactions hold by name: PostgreSQL has many that write at once, SQLite one, which needs
//! none of this.

use super::{Error, Tx};

impl Tx {
    /// Lets nobody else hold this until the transaction ends. Whoever waited is later than who had
    /// it: [`Tx::now`] is taken again.
    ///
    /// # Errors
    /// [`Error::Unavailable`].
    pub(in crate::store) async fn hold(&mut self, what: &str, name: &str) -> Result<(), Error> {
        self.take("SELECT pg_advisory_xact_lock(hashtextextended($1 || $2, 0))", what, name).await
    }

    /// The same beside others that hold it so, but for none that holds it alone.
    ///
    /// # Errors
    /// [`Error::Unavailable`].
    pub(in crate::store) async fn hold_with(
        &mut self,
        what: &str,
        name: &str,
    ) -> Result<(), Error> {
        let text = "SELECT pg_advisory_xact_lock_shared(hashtextextended($1 || $2, 0))";
        self.take(text, what, name).await
    }

    async fn take(&mut self, text: &'static str, what: &str, name: &str) -> Result<(), Error> {
        if !self.is_sqlite() {
            self.sql(text).bind(what).bind(name).run().await?;
            self.at = self.at.max(self.store.now());
        }
        Ok(())
    }
}
