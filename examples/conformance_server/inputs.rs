//! Tools that need input: they answer with questions, and the client calls again with the answers
//! and the state that it was given.

use rmcp::{
    ErrorData,
    model::{
        CallToolResponse, ClientCapabilities, InputRequiredResult, InputResponses,
        RequestStateCodec, SealOptions,
    },
};
use serde_json::Value;

use crate::{content::Content, live::said};

/// Answers, and what seals the state that the client keeps.
pub(crate) struct Inputs<'a> {
    pub(crate) content: &'a Content,
    pub(crate) seal: &'a RequestStateCodec,
    pub(crate) answers: &'a InputResponses,
    pub(crate) state: Option<&'a str>,
}

impl Inputs<'_> {
    /// One question, without a state.
    pub(crate) fn ask_one(&self, name: &str) -> Result<CallToolResponse, ErrorData> {
        match self.answer(name) {
            Some(answer) => Ok(said(format!("You said {answer}")).into()),
            None => Ok(self.required(&[name], None)?.into()),
        }
    }

    /// Several questions at once, with a state that is checked on the way back.
    pub(crate) fn ask_all(
        &self,
        tool: &str,
        names: &[&str],
    ) -> Result<CallToolResponse, ErrorData> {
        if let Some(state) = self.state {
            self.open(tool, state)?;
            if names.iter().all(|name| self.answers.contains_key(*name)) {
                return Ok(said("state-ok: all answers are there").into());
            }
        }
        Ok(self.required(names, Some(self.sealed(tool, "asked")))?.into())
    }

    /// Two rounds, each with its own state.
    pub(crate) fn ask_twice(&self, tool: &str) -> Result<CallToolResponse, ErrorData> {
        let round = self.state.map(|state| self.open(tool, state)).transpose()?;
        match round.as_deref() {
            Some("second") if self.answer("step2").is_some() => {
                Ok(said("Both steps are done").into())
            }
            Some("first") if self.answer("step1").is_some() => {
                Ok(self.required(&["step2"], Some(self.sealed(tool, "second")))?.into())
            }
            _ => Ok(self.required(&["step1"], Some(self.sealed(tool, "first")))?.into()),
        }
    }

    /// Only what the client declared that it can answer.
    pub(crate) fn ask_what_can_be_answered(
        &self,
        client: &ClientCapabilities,
    ) -> Result<CallToolResponse, ErrorData> {
        let mut names = Vec::new();
        if client.elicitation.is_some() {
            names.push("user_name");
        }
        if client.sampling.is_some() {
            names.push("capital_question");
        }
        if names.iter().any(|name| self.answers.contains_key(*name)) || names.is_empty() {
            return Ok(said("Nothing more is asked").into());
        }
        Ok(self.required(&names, None)?.into())
    }

    /// The questions, for a result of any kind.
    pub(crate) fn required(
        &self,
        names: &[&str],
        state: Option<String>,
    ) -> Result<InputRequiredResult, ErrorData> {
        Ok(InputRequiredResult::new(Some(self.content.asked(names)?), state))
    }

    /// An answer that is one: an object.
    pub(crate) fn answer(&self, name: &str) -> Option<&Value> {
        self.answers.get(name).filter(|answer| answer.is_object())
    }

    fn sealed(&self, tool: &str, state: &str) -> String {
        let options = SealOptions::new().associated_data(tool.as_bytes());
        self.seal.seal_with(state.as_bytes(), &options)
    }

    fn open(&self, tool: &str, state: &str) -> Result<String, ErrorData> {
        let opened = self.seal.open_with(state, tool.as_bytes());
        let opened = opened.map_err(|error| ErrorData::invalid_params(error.to_string(), None))?;
        Ok(String::from_utf8_lossy(&opened).into_owned())
    }
}
