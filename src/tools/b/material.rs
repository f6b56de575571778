//! What is read: a text of the call, a ledger at one revision, or a file.

use std::sync::Arc;

use bytesize::ByteSize;
use mcp::{Call, Code, Fault};

use crate::{
    app::App,
    store::{
        Error, ledger,
        names::{Locus, Task},
        result as stored,
    },
    tools::{file, result},
    untrusted,
};

/// The largest source.
const MOST: ByteSize = ByteSize::mib(16);

/// Characters of a path that are repeated.
const SHOWN: usize = 200;

/// Where a source is, as the call names it: the first that is given counts.
#[derive(Debug)]
pub(super) struct Place {
    pub(super) text: Option<String>,
    pub(super) handle: Option<String>,
    pub(super) locus: Option<String>,
    pub(super) task: Option<String>,
    pub(super) rev: Option<i64>,
    pub(super) path: Option<String>,
}

/// A source.
#[derive(Debug)]
pub(super) struct Material {
    /// `text`, `result:HANDLE`, `ledger:LOCUS/TASK` or `file:PATH`.
    pub(super) label: String,
    /// The revision, of a ledger.
    pub(super) rev: Option<i64>,
    pub(super) text: Arc<str>,
}

impl Place {
    /// Reads the source.
    pub(super) async fn read(self, cx: &Call<App>) -> Result<Material, Fault> {
        if self.locus.is_none() && (self.task.is_some() || self.rev.is_some()) {
            let words = "`ledger_task` and `rev` are of a ledger: give `ledger_locus` too";
            return Err(Fault::invalid(words));
        }
        let (label, rev, text) = match self {
            Self { text: Some(text), .. } => ("text".to_owned(), None, text),
            Self { handle: Some(handle), .. } => {
                let (label, text) = of_result(cx, &handle).await?;
                (label, None, text)
            }
            Self { locus: Some(locus), task, rev, .. } => {
                let (label, rev, text) = of_ledger(cx, &locus, task.as_deref(), rev).await?;
                (label, Some(rev), text)
            }
            Self { path: Some(path), .. } => {
                let label = format!("file:{}", untrusted::one_line(&path, SHOWN));
                let large = |what: &str| too_large(&format!("{what} is larger"));
                (label, None, file::text(cx, path, MOST, "give `text`", large).await?)
            }
            _ => {
                let words =
                    "`b_ask` reads one source: give `text`, `handle`, `ledger_locus` or `path`";
                return Err(Fault::invalid(words));
            }
        };
        let size = ByteSize(u64::try_from(text.len()).unwrap_or(u64::MAX));
        if size > MOST {
            return Err(too_large(&format!("the source has {size}")));
        }
        let is_blank = |c: char| c.is_whitespace() || c == '\u{feff}';
        if text.chars().all(is_blank) {
            return Err(Fault::invalid(format!("the source `{label}` is blank: name another")));
        }
        Ok(Material { label, rev, text: text.into() })
    }
}

/// A reply that was kept, in the form that `result_read` reads.
async fn of_result(cx: &Call<App>, handle: &str) -> Result<(String, String), Fault> {
    let (mut conn, kept) = result::find(cx, handle).await?;
    let form = kept.form();
    let size = ByteSize(u64::try_from(kept.extent(form).bytes).unwrap_or(u64::MAX));
    if size > MOST {
        return Err(too_large(&format!("the kept reply has {size}")));
    }
    let text = stored::whole(&mut conn, &kept, form).await?;
    Ok((format!("result:{}", kept.handle), text))
}

/// The ledger's name and revision, and its document then.
async fn of_ledger(
    cx: &Call<App>,
    locus: &str,
    task: Option<&str>,
    rev: Option<i64>,
) -> Result<(String, i64, String), Fault> {
    let locus = Locus::parse(locus).map_err(Error::from)?;
    cx.caller.rights.named(locus.as_str())?;
    let task = task.map(Task::parse).transpose().map_err(Error::from)?;
    let mut conn = cx.app.store.read().await?;
    let (task, rev, doc) = match (rev, task) {
        (None, task) => {
            let ledger = ledger::get(&mut conn, &locus, task.as_ref()).await?;
            (ledger.head.task, ledger.head.rev, ledger.doc)
        }
        (Some(rev), Some(task)) => {
            let (rev, doc) = ledger::at(&mut conn, &locus, &task, rev).await?;
            (task.as_str().to_owned(), rev.rev, doc)
        }
        (Some(_), None) => {
            let words = "a revision is of one ledger: give `ledger_task` with `rev`";
            return Err(Fault::invalid(words));
        }
    };
    Ok((format!("ledger:{locus}/{task}"), rev, doc))
}

fn too_large(what: &str) -> Fault {
    let words = format!("{what}, and a source may have {MOST}: ask of a part of it");
    Fault::new(Code::TooLarge, words).with("limit", MOST.as_u64().into())
}
