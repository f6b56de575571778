//! The handler that the suite talks to.

use std::sync::Arc;

use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, CancelTaskParams, ClientCapabilities,
        CompleteRequestParams, CompleteResult, CompletionInfo, ErrorCode, GetPromptRequestParams,
        GetPromptResponse, GetPromptResult, GetTaskParams, GetTaskResult, Implementation,
        InputResponses, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult,
        ListToolsResult, PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResponse,
        ReadResourceResult, RequestStateCodec, ResourceContents, ServerConfig,
        SubscribeRequestParams, SubscriptionFilter, Tool, UnsubscribeRequestParams,
        UpdateTaskParams,
    },
    service::{RequestContext, SubscriptionContext},
    task_manager::TaskManager,
};
use serde_json::{Map, Value, json};
use tokio::sync::watch;

use crate::{
    content::{Content, typed},
    inputs::Inputs,
    jobs,
    live::{self, is_modern, said},
};

/// The suite's tools, prompts and resources. Clones share the tasks.
#[derive(Clone)]
pub(crate) struct Fixtures(Arc<Inner>);

struct Inner {
    content: Content,
    seal: RequestStateCodec,
    tasks: TaskManager,
    tools_changed: watch::Sender<u64>,
    prompts_changed: watch::Sender<u64>,
}

type Context = RequestContext<RoleServer>;

impl Fixtures {
    /// `tools_changed` is what the face listens to as well.
    pub(crate) fn new(tools_changed: watch::Sender<u64>, key: &str) -> anyhow::Result<Self> {
        Ok(Self(Arc::new(Inner {
            content: Content::read()?,
            seal: RequestStateCodec::try_new(key)?,
            tasks: TaskManager::new(),
            tools_changed,
            prompts_changed: watch::Sender::new(0),
        })))
    }

    async fn call(
        &self,
        name: &str,
        arguments: &Map<String, Value>,
        inputs: Inputs<'_>,
        context: &Context,
    ) -> Result<Option<CallToolResponse>, ErrorData> {
        let Inner { content, tasks, tools_changed, prompts_changed, .. } = &*self.0;
        let text = |name: &str| arguments.get(name).and_then(Value::as_str).unwrap_or_default();
        let client = context.client_capabilities().unwrap_or_default();
        if let Some(result) = content.results.get(name) {
            return Ok(Some(result.clone().into()));
        }
        if let Some(questions) = name.strip_prefix("test_input_required_result_") {
            return asked(questions, name, &inputs, &client).transpose();
        }
        Ok(Some(match name {
            "greet" => said(format!("Hello, {}!", text("name"))).into(),
            "test_tool_with_progress" => {
                live::progress(context).await;
                said("all steps are done").into()
            }
            "test_tool_with_logging" | "test_logging_tool" => {
                live::log(context).await?;
                said("all lines are logged").into()
            }
            "test_sampling" => live::sample(context, text("prompt")).await?.into(),
            "test_elicitation" => {
                live::elicit(context, content, "who", Some(text("message"))).await?.into()
            }
            "test_elicitation_sep1034_defaults" => {
                live::elicit(context, content, "defaults", None).await?.into()
            }
            "test_elicitation_sep1330_enums" => {
                live::elicit(context, content, "enums", None).await?.into()
            }
            "test_streaming_elicitation" => {
                live::progress(context).await;
                inputs.ask_one("user_name")?
            }
            "test_missing_capability" => {
                if client.sampling.is_none() {
                    let required = typed(json!({"sampling": {}}))?;
                    return Err(ErrorData::missing_required_client_capability(required));
                }
                said("the client samples").into()
            }
            "test_reconnection" => said("the stream was resumed").into(),
            "test_trigger_tool_change" => {
                tools_changed.send_modify(|revision| *revision += 1);
                said("the tools changed").into()
            }
            "test_trigger_prompt_change" => {
                prompts_changed.send_modify(|revision| *revision += 1);
                said("the prompts changed").into()
            }
            "slow_compute" => {
                let seconds = arguments.get("seconds").and_then(Value::as_f64).unwrap_or(1.0);
                if client.supports_tasks() {
                    jobs::begin(tasks, |task| jobs::compute(seconds, task))
                } else {
                    jobs::compute_now(seconds).await.into()
                }
            }
            "failing_job" | "protocol_error_job" | "confirm_delete" | "multi_input" => {
                jobs::must_know_tasks(&client)?;
                match name {
                    "failing_job" => jobs::begin(tasks, jobs::fail),
                    "protocol_error_job" => jobs::begin(tasks, jobs::break_down),
                    "confirm_delete" => jobs::begin(tasks, jobs::ask(content.asked(&["confirm"])?)),
                    _ => jobs::begin(tasks, jobs::ask(content.asked(&["first", "second"])?)),
                }
            }
            "test_tool_with_task" => {
                jobs::must_know_tasks(&client)?;
                match inputs.answer("user_name") {
                    Some(answer) => jobs::begin(tasks, jobs::repeat(answer.clone())),
                    None => inputs.ask_one("user_name")?,
                }
            }
            _ => return Ok(None),
        }))
    }

    fn inputs<'a>(&'a self, answers: &'a InputResponses, state: Option<&'a str>) -> Inputs<'a> {
        Inputs { content: &self.0.content, seal: &self.0.seal, answers, state }
    }
}

/// The tools that answer with questions, by the end of their names.
fn asked(
    questions: &str,
    tool: &str,
    inputs: &Inputs<'_>,
    client: &ClientCapabilities,
) -> Option<Result<CallToolResponse, ErrorData>> {
    Some(match questions {
        "elicitation" => inputs.ask_one("user_name"),
        "sampling" => inputs.ask_one("capital_question"),
        "list_roots" => inputs.ask_one("client_roots"),
        "request_state" | "tampered_state" => inputs.ask_all(tool, &["confirm"]),
        "multiple_inputs" => inputs.ask_all(tool, &["user_name", "greeting", "client_roots"]),
        "multi_round" => inputs.ask_twice(tool),
        "capabilities" => inputs.ask_what_can_be_answered(client),
        _ => return None,
    })
}

fn unknown(what: &str, name: &str) -> ErrorData {
    ErrorData::invalid_params(format!("there is no {what} `{name}`"), None)
}

fn gone<T>(method: &str) -> Result<T, ErrorData> {
    Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, method.to_owned(), None))
}

impl ServerHandler for Fixtures {
    fn get_info(&self) -> ServerConfig {
        let capabilities = json!({
            "tools": {"listChanged": true},
            "prompts": {"listChanged": true},
            "resources": {"subscribe": true},
            "logging": {},
            "completions": {},
            "extensions": {"io.modelcontextprotocol/tasks": {}},
        });
        ServerConfig::new(typed(capabilities).unwrap_or_default()).with_server_info(
            Implementation::new("conformance-fixtures", env!("CARGO_PKG_VERSION")),
        )
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.0.content.tools.iter().find(|tool| tool.name == name).cloned()
    }

    async fn list_tools(
        &self,
        _page: Option<PaginatedRequestParams>,
        _context: Context,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.0.content.tools.clone()))
    }

    async fn call_tool(
        &self,
        params: CallToolRequestParams,
        context: Context,
    ) -> Result<CallToolResponse, ErrorData> {
        let answers = params.input_responses.unwrap_or_default();
        let inputs = self.inputs(&answers, params.request_state.as_deref());
        let arguments = params.arguments.unwrap_or_default();
        let result = Box::pin(self.call(&params.name, &arguments, inputs, &context)).await?;
        result.ok_or_else(|| unknown("tool", &params.name))
    }

    async fn get_task(
        &self,
        params: GetTaskParams,
        _: Context,
    ) -> Result<GetTaskResult, ErrorData> {
        self.0.tasks.get_task(&params.task_id).map(GetTaskResult::new)
    }

    async fn update_task(&self, params: UpdateTaskParams, _: Context) -> Result<(), ErrorData> {
        self.0.tasks.update_task(&params.task_id, params.input_responses)
    }

    async fn cancel_task(&self, params: CancelTaskParams, _: Context) -> Result<(), ErrorData> {
        self.0.tasks.cancel_task(&params.task_id)
    }

    async fn list_prompts(
        &self,
        _page: Option<PaginatedRequestParams>,
        _context: Context,
    ) -> Result<ListPromptsResult, ErrorData> {
        Ok(ListPromptsResult::with_all_items(self.0.content.prompts.list.clone()))
    }

    async fn get_prompt(
        &self,
        params: GetPromptRequestParams,
        _context: Context,
    ) -> Result<GetPromptResponse, ErrorData> {
        if let Some(fixed) = self.0.content.prompts.fixed.get(&params.name) {
            return Ok(fixed.clone().into());
        }
        let arguments = params.arguments.unwrap_or_default();
        let text = |name: &str| arguments.get(name).and_then(Value::as_str).unwrap_or_default();
        let contents = match params.name.as_str() {
            "test_prompt_with_arguments" => {
                let words = format!("arg1='{}', arg2='{}'", text("arg1"), text("arg2"));
                vec![json!({"type": "text", "text": words})]
            }
            "test_prompt_with_embedded_resource" => {
                let uri = text("resourceUri");
                let resource =
                    json!({"uri": uri, "mimeType": "text/plain", "text": "Its content."});
                vec![
                    json!({"type": "resource", "resource": resource}),
                    json!({"type": "text", "text": "What does the resource say?"}),
                ]
            }
            "test_input_required_result_prompt" => {
                let answers = params.input_responses.unwrap_or_default();
                let inputs = self.inputs(&answers, None);
                match inputs.answer("user_context") {
                    Some(answer) => vec![json!({"type": "text", "text": answer.to_string()})],
                    None => return Ok(inputs.required(&["user_context"], None)?.into()),
                }
            }
            name => return Err(unknown("prompt", name)),
        };
        let message = |content: Value| json!({"role": "user", "content": content});
        let messages: Vec<Value> = contents.into_iter().map(message).collect();
        let result: GetPromptResult =
            typed(json!({"resultType": "complete", "messages": messages}))?;
        Ok(result.into())
    }

    async fn complete(
        &self,
        params: CompleteRequestParams,
        _context: Context,
    ) -> Result<CompleteResult, ErrorData> {
        let begun = params.argument.value;
        let values =
            ["test", "testing", "tested"].into_iter().filter(|word| word.starts_with(&begun));
        let info = CompletionInfo::new(values.map(String::from).collect());
        let info = info.map_err(|error| ErrorData::internal_error(error, None))?;
        Ok(CompleteResult::new(info))
    }

    async fn list_resources(
        &self,
        _page: Option<PaginatedRequestParams>,
        _context: Context,
    ) -> Result<ListResourcesResult, ErrorData> {
        Ok(ListResourcesResult::with_all_items(self.0.content.resources.list.clone()))
    }

    async fn list_resource_templates(
        &self,
        _page: Option<PaginatedRequestParams>,
        _context: Context,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let templates = self.0.content.resources.templates.clone();
        Ok(ListResourceTemplatesResult::with_all_items(templates))
    }

    async fn read_resource(
        &self,
        params: ReadResourceRequestParams,
        _context: Context,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let uri = params.uri;
        let id = uri.strip_prefix("test://template/").and_then(|rest| rest.strip_suffix("/data"));
        let contents = match (self.0.content.resources.contents.get(&uri), id) {
            (Some(fixed), _) => fixed.clone(),
            (None, Some(id)) => {
                let data = json!({"id": id, "data": format!("Data for {id}")});
                ResourceContents::text(data.to_string(), &uri).with_mime_type("application/json")
            }
            (None, None) => {
                let data = json!({"uri": uri});
                return Err(ErrorData::resource_not_found("there is no such resource", Some(data)));
            }
        };
        Ok(ReadResourceResult::new(vec![contents]).into())
    }

    async fn subscribe(&self, _: SubscribeRequestParams, _: Context) -> Result<(), ErrorData> {
        Ok(())
    }

    async fn unsubscribe(&self, _: UnsubscribeRequestParams, _: Context) -> Result<(), ErrorData> {
        Ok(())
    }

    #[expect(deprecated, reason = "the suite tests it on older revisions")]
    async fn set_level(
        &self,
        _: rmcp::model::SetLevelRequestParams,
        context: Context,
    ) -> Result<(), ErrorData> {
        if is_modern(&context) { gone("logging/setLevel") } else { Ok(()) }
    }

    fn accepted_subscription_filter(
        &self,
        asked: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        Some(asked.clone())
    }

    async fn listen(&self, subscription: SubscriptionContext) -> Result<(), ErrorData> {
        let mut tools = self.0.tools_changed.subscribe();
        let mut prompts = self.0.prompts_changed.subscribe();
        loop {
            // What the client did not ask for is refused by the sink, and that is fine.
            tokio::select! {
                () = subscription.cancelled() => return Ok(()),
                Ok(()) = tools.changed() => {
                    let _unwanted = subscription.sink().notify_tool_list_changed().await;
                }
                Ok(()) = prompts.changed() => {
                    let _unwanted = subscription.sink().notify_prompt_list_changed().await;
                }
                else => return Ok(()),
            }
        }
    }
}
