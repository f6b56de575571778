//! The library as the protocol's resources: lists in pages with opaque cursors, texts by their
//! addresses, forms of addresses.

use base64::{Engine as _, prelude::BASE64_URL_SAFE_NO_PAD};
use rmcp::model::{
    Annotations, ErrorCode, ErrorData, ListResourceTemplatesResult, ListResourcesResult,
    MetaObject, ReadResourceResult, Resource, ResourceContents, ResourceTemplate,
};
use serde_json::Value;

use super::Inner;
use crate::{Caller, Code, Fault, Shelf, library, library::Text};

/// The most resources of one page.
const PAGE: usize = 100;

impl<S: Clone + Send + Sync + 'static> Inner<S> {
    /// The shelves that this caller has.
    pub(super) fn shelves<'a>(
        &'a self,
        caller: &'a Caller,
    ) -> impl Iterator<Item = &'a dyn Shelf<S>> {
        let shelves = self.library.shelves.iter().map(Box::as_ref);
        shelves.filter(move |shelf| self.catalogue.get(shelf.tool(), caller).is_ok())
    }

    /// The shelf of an address, if this caller has it.
    pub(super) fn shelf<'a>(&'a self, caller: &'a Caller, uri: &str) -> Option<&'a dyn Shelf<S>> {
        self.shelves(caller).find(|shelf| uri.starts_with(shelf.root()))
    }

    /// A page of all that there is for this caller.
    pub(super) async fn resources(
        &self,
        caller: &Caller,
        cursor: Option<&str>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let (root, mut after) = match cursor {
            Some(cursor) => read_cursor(cursor).ok_or_else(wrong_cursor)?,
            None => (String::new(), None),
        };
        let mut shelves =
            self.shelves(caller).skip_while(|shelf| !root.is_empty() && shelf.root() != root);
        let mut resources = Vec::new();
        let mut next = None;
        while next.is_none() {
            let Some(shelf) = shelves.next() else { break };
            let room = PAGE - resources.len();
            if room == 0 {
                next = Some((shelf.root(), None));
                break;
            }
            let listed = shelf.list(&self.app, caller, after.as_deref(), room).await;
            let listed = listed.map_err(|fault| error(&fault, None))?;
            resources.extend(listed.items.into_iter().map(resource));
            next = listed.next.map(|next| (shelf.root(), Some(next)));
            after = None;
        }
        let mut list = ListResourcesResult::with_all_items(resources);
        list.next_cursor = next.map(|(root, after)| write_cursor(root, after.as_deref()));
        Ok(list)
    }

    /// The forms of addresses that this caller may fill in.
    pub(super) fn templates(&self, caller: &Caller) -> ListResourceTemplatesResult {
        let templates = self.shelves(caller).flat_map(Shelf::templates);
        let template = |template: &library::Template| {
            ResourceTemplate::new(template.uri, template.name)
                .with_title(template.title)
                .with_description(template.about)
                .with_mime_type(template.mime)
        };
        ListResourceTemplatesResult::with_all_items(templates.map(template).collect())
    }

    /// The text of an address.
    pub(super) async fn text(&self, caller: &Caller, uri: &str) -> Result<Text, ErrorData> {
        let Some(shelf) = self.shelf(caller, uri) else {
            let roots = self.shelves(caller).map(|shelf| format!("`{}`", shelf.root()));
            let roots = roots.collect::<Vec<_>>().join(" or ");
            let words = format!(
                "there is no resource `{}` here: addresses begin with {roots}",
                crate::fault::shown(uri)
            );
            return Err(error(&Fault::new(Code::NotFound, words), Some(uri)));
        };
        let text = shelf.read(&self.app, caller, uri).await;
        text.map_err(|fault| error(&fault, Some(uri)))
    }
}

/// What a client reads of a text.
pub(super) fn contents(text: Text) -> ResourceContents {
    let contents = ResourceContents::text(text.text, text.uri).with_mime_type(text.mime);
    if text.meta.is_empty() { contents } else { contents.with_meta(MetaObject(text.meta)) }
}

/// A text that was asked for.
pub(super) fn read(text: Text) -> ReadResourceResult {
    ReadResourceResult::new(vec![contents(text)])
}

fn resource(found: library::Resource) -> Resource {
    let mut resource = Resource::new(found.uri, found.name).with_mime_type(found.mime);
    resource.title = found.title;
    resource.description = found.about;
    resource.annotations = found.modified.map(|modified| {
        let mut annotations = Annotations::default();
        annotations.last_modified = Some(modified);
        annotations
    });
    resource
}

/// A fault as an error of the protocol; about an address, with that. The library of the protocol
/// turns the code of what is not there into the one of the client's revision.
pub(super) fn error(fault: &Fault, uri: Option<&str>) -> ErrorData {
    let code = match fault.code {
        Code::NotFound => ErrorCode::RESOURCE_NOT_FOUND,
        Code::Invalid | Code::TooLarge | Code::Forbidden | Code::Conflict => {
            ErrorCode::INVALID_PARAMS
        }
        _ => {
            tracing::info!(code = fault.code.as_str(), detail = fault.detail, "a read failed");
            ErrorCode::INTERNAL_ERROR
        }
    };
    let mut data = fault.body();
    data.remove("error");
    if let Some(uri) = uri {
        data.insert("uri".to_owned(), Value::from(uri));
    }
    ErrorData::new(code, fault.message.clone(), Some(Value::Object(data)))
}

pub(super) fn wrong_cursor() -> ErrorData {
    let words = "`cursor` is not the `nextCursor` of a page: leave it out to begin anew";
    ErrorData::invalid_params(words, None)
}

fn write_cursor(root: &str, after: Option<&str>) -> String {
    BASE64_URL_SAFE_NO_PAD.encode(serde_json::json!([root, after]).to_string())
}

fn read_cursor(cursor: &str) -> Option<(String, Option<String>)> {
    serde_json::from_slice(&BASE64_URL_SAFE_NO_PAD.decode(cursor).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_cursor_comes_back_and_anything_else_is_refused(
            root in "[a-z:/]{0,20}",
            after in proptest::option::of(".{0,40}"),
            text in ".{0,40}",
        ) {
            let cursor = write_cursor(&root, after.as_deref());
            prop_assert!(cursor.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte)));
            prop_assert_eq!(read_cursor(&cursor), Some((root, after)));
            // Whatever it is, it is read or not, and nothing breaks.
            let _ = read_cursor(&text);
        }
    }
}
