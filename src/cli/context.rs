//! What every command gets, and how each is stopped.

use super::{
    exit::{Error, Exit},
    output::Output,
};
use crate::config::{Env, Flags, Loaded, Settings};

/// What every command gets.
#[derive(Debug)]
pub struct Context {
    /// The environment of the process.
    pub env: Env,
    /// The flags that are settings.
    pub flags: Flags,
    /// Where results and notes go.
    pub out: Output,
}

impl Context {
    /// The settings.
    ///
    /// # Errors
    /// Everything that is wrong with them.
    pub fn load(&self) -> Result<Loaded, Error> {
        Ok(Settings::load(&self.env, &self.flags)?)
    }
}

/// Does the work until it is done or Ctrl-C is pressed: then it is dropped, with its connections.
///
/// # Errors
/// Those of the work, or that it was interrupted.
pub async fn until_interrupted<T>(work: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
    tokio::select! {
        done = work => done,
        Ok(()) = tokio::signal::ctrl_c() => Err(Error::new(Exit::Interrupted, "")),
    }
}
