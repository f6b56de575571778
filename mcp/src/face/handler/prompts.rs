//! Recipes as the protocol's prompts, and how their arguments and those of addresses go on.

use std::collections::HashMap;

use rmcp::model::{
    CompleteRequestParams, CompleteResult, CompletionInfo, ContentBlock, EmbeddedResource,
    ErrorData, GetPromptResult, JsonObject, ListPromptsResult, Prompt, PromptArgument,
    PromptMessage, Reference, Role,
};

use super::{Inner, resources};
use crate::{
    Caller, Recipe,
    fault::shown,
    library::{Begun, Completion, Shelf},
};

impl<S: Clone + Send + Sync + 'static> Inner<S> {
    /// The recipes that this caller can follow.
    fn recipes<'a>(&'a self, caller: &'a Caller) -> impl Iterator<Item = &'static Recipe> + 'a {
        let may = |tool: &&str| self.catalogue.get(tool, caller).is_ok();
        self.recipes.iter().filter(move |recipe| recipe.uses.iter().all(&may))
    }

    fn recipe(&self, caller: &Caller, name: &str) -> Result<&'static Recipe, ErrorData> {
        self.recipes(caller).find(|recipe| recipe.name == name).ok_or_else(|| {
            let words =
                format!("there is no prompt `{}` here: `prompts/list` names those", shown(name));
            ErrorData::invalid_params(words, None)
        })
    }

    /// What `prompts/list` shows.
    pub(super) fn prompts(&self, caller: &Caller) -> ListPromptsResult {
        let argument = |parameter: &crate::Parameter| {
            PromptArgument::new(parameter.name)
                .with_description(parameter.about)
                .with_required(parameter.required)
        };
        let prompt = |recipe: &Recipe| {
            let arguments = recipe.arguments.iter().map(argument).collect();
            Prompt::new(recipe.name, Some(recipe.about), Some(arguments)).with_title(recipe.title)
        };
        ListPromptsResult::with_all_items(self.recipes(caller).map(prompt).collect())
    }

    /// A recipe with its arguments put in, and what goes with it.
    pub(super) async fn prompt(
        &self,
        caller: &Caller,
        name: &str,
        arguments: &JsonObject,
    ) -> Result<GetPromptResult, ErrorData> {
        let recipe = self.recipe(caller, name)?;
        let given = recipe.given(arguments).map_err(|fault| resources::error(&fault, None))?;
        let text = (recipe.text)(&given);
        let mut messages = vec![PromptMessage::new(Role::User, ContentBlock::text(text))];
        if let Some(attached) = recipe.attached {
            let text = self.text(caller, &attached(&given)).await?;
            let resource = EmbeddedResource::new(resources::contents(text));
            messages.push(PromptMessage::new(Role::User, ContentBlock::Resource(resource)));
        }
        Ok(GetPromptResult::new(messages).with_description(recipe.about))
    }

    /// How an argument may go on: one of a recipe, or of a form of addresses.
    pub(super) async fn completion(
        &self,
        caller: &Caller,
        params: CompleteRequestParams,
    ) -> Result<CompleteResult, ErrorData> {
        let argument = &params.argument;
        let shelf = match &params.r#ref {
            Reference::Prompt(prompt) => {
                let recipe = self.recipe(caller, &prompt.name)?;
                let parameters = recipe.arguments.iter();
                let mut named = parameters.filter(|parameter| parameter.name == argument.name);
                let parameter = named.next().ok_or_else(|| {
                    let words = format!(
                        "`{}` takes no argument `{}`: `prompts/list` names those",
                        recipe.name,
                        shown(&argument.name)
                    );
                    ErrorData::invalid_params(words, None)
                })?;
                parameter.shelf.and_then(|root| self.shelf(caller, root))
            }
            Reference::Resource(resource) => {
                let shelf = self.shelf(caller, &resource.uri);
                Some(shelf.ok_or_else(|| {
                    let words = format!(
                        "there is no template `{}` here: `resources/templates/list` names those",
                        shown(&resource.uri)
                    );
                    ErrorData::invalid_params(words, None)
                })?)
            }
            _ => None,
        };
        let none = HashMap::new();
        let context = params.context.as_ref();
        let begun = Begun {
            name: &argument.name,
            value: &argument.value,
            others: context.and_then(|context| context.arguments.as_ref()).unwrap_or(&none),
        };
        let completion = match shelf {
            Some(shelf) => self.complete_on(shelf, caller, begun).await?,
            None => Completion::default(),
        };
        let info = CompletionInfo::with_pagination(completion.values, None, completion.more);
        let info = info.map_err(|words| ErrorData::internal_error(words, None))?;
        Ok(CompleteResult::new(info))
    }

    async fn complete_on(
        &self,
        shelf: &dyn Shelf<S>,
        caller: &Caller,
        begun: Begun<'_>,
    ) -> Result<Completion, ErrorData> {
        let mut completion = shelf
            .complete(&self.app, caller, begun)
            .await
            .map_err(|fault| resources::error(&fault, None))?;
        completion.more |= completion.values.len() > Completion::MOST;
        completion.values.truncate(Completion::MOST);
        Ok(completion)
    }
}
