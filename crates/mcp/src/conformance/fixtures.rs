//! Tools, resources and prompts that the conformance runner calls by name.

use std::sync::Arc;
use std::time::Duration;

use boswell_app::redaction::Redactor;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ClientCapabilities,
    GetPromptRequestParams, GetPromptResponse, GetPromptResult, JsonObject, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    ProgressNotificationParam, Prompt, PromptArgument, ReadResourceRequestParams,
    ReadResourceResponse, ReadResourceResult, Resource, ResourceTemplate, ServerCapabilities,
    ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::{Value, json};

use crate::frame::FramedText;

const TOOLS: [&str; 10] = [
    "test_simple_text",
    "test_image_content",
    "test_audio_content",
    "test_embedded_resource",
    "test_multiple_content_types",
    "test_error_handling",
    "test_tool_with_progress",
    "test_missing_capability",
    "test_streaming_elicitation",
    "test_logging_tool",
];

/// Prompts with their arguments.
const PROMPTS: [(&str, &[&str]); 4] = [
    ("test_simple_prompt", &[]),
    ("test_prompt_with_arguments", &["arg1", "arg2"]),
    ("test_prompt_with_embedded_resource", &["resourceUri"]),
    ("test_prompt_with_image", &[]),
];

/// A picture of one point, and a sound without samples.
const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";
const WAV: &str = "UklGRiQAAABXQVZFZm10IBAAAAABAAEARKwAAIhYAQACABAAZGF0YQAAAAA=";

/// The server with what the runner calls.
#[derive(Debug, Clone)]
pub(super) struct Fixtures(Arc<Redactor>);

impl Fixtures {
    pub(super) fn new() -> Fixtures {
        Fixtures(Arc::new(Redactor::new().unwrap()))
    }

    /// A text as our answers have it.
    fn framed(&self, text: &str) -> Value {
        let mut answer = FramedText::new(&self.0);
        answer.quote("fixture", answer.clean(text));
        json!({"type": "text", "text": answer.finish().unwrap()})
    }

    fn content(&self, tool: &str) -> Vec<Value> {
        let image = json!({"type": "image", "data": PNG, "mimeType": "image/png"});
        match tool {
            "test_image_content" => vec![image],
            "test_audio_content" => {
                vec![json!({"type": "audio", "data": WAV, "mimeType": "audio/wav"})]
            }
            "test_embedded_resource" => vec![embedded("test://embedded-resource")],
            "test_multiple_content_types" => vec![
                self.framed("several"),
                image,
                embedded("test://mixed-content-resource"),
            ],
            other => vec![self.framed(other)],
        }
    }
}

fn embedded(uri: &str) -> Value {
    let resource = json!({"uri": uri, "mimeType": "text/plain", "text": "inside"});
    json!({"type": "resource", "resource": resource})
}

/// Reports progress in three steps, if the client wants it.
async fn report_progress(context: &RequestContext<RoleServer>) {
    let Some(token) = context.meta.get_progress_token() else {
        return;
    };
    for step in [0.0, 50.0, 100.0] {
        let progress = ProgressNotificationParam::new(token.clone(), step).with_total(100.0);
        context.peer.notify_progress(progress).await.unwrap();
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

impl ServerHandler for Fixtures {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_completions()
            .enable_prompts()
            .enable_resources()
            .enable_tools();
        ServerConfig::new(capabilities.build())
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let mut schema = JsonObject::new();
        schema.insert("type".to_owned(), "object".into());
        let schema = Arc::new(schema);
        let tool = |name: &&'static str| Tool::new(*name, "A fixture", Arc::clone(&schema));
        Ok(ListToolsResult::with_all_items(
            TOOLS.iter().map(tool).collect(),
        ))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let name = request.name.as_ref();
        match name {
            "test_missing_capability" => {
                let needed: ClientCapabilities =
                    serde_json::from_value(json!({"sampling": {}})).unwrap();
                return Err(ErrorData::missing_required_client_capability(needed));
            }
            "test_tool_with_progress" => report_progress(&context).await,
            known if !TOOLS.contains(&known) => {
                return Err(ErrorData::invalid_params("there is no such tool", None));
            }
            _ => {}
        }
        let result = json!({
            "resultType": "complete",
            "content": self.content(name),
            "isError": name == "test_error_handling",
        });
        let result: CallToolResult = serde_json::from_value(result).unwrap();
        Ok(result.into())
    }

    async fn list_prompts(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let prompts = PROMPTS.iter().map(|(name, arguments)| {
            let argument = |name: &&str| PromptArgument::new(*name).with_required(true);
            let arguments = arguments.iter().map(argument).collect();
            Prompt::new(*name, Some("A fixture"), Some(arguments))
        });
        Ok(ListPromptsResult::with_all_items(prompts.collect()))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let given = Value::from(request.arguments.unwrap_or_default());
        let content = match request.name.as_str() {
            "test_prompt_with_arguments" => {
                let text = format!("{} and {}", given["arg1"], given["arg2"]);
                self.framed(&text)
            }
            "test_prompt_with_embedded_resource" => {
                embedded(given["resourceUri"].as_str().unwrap_or_default())
            }
            "test_prompt_with_image" => {
                json!({"type": "image", "data": PNG, "mimeType": "image/png"})
            }
            _ => self.framed("a prompt"),
        };
        let messages = json!([{"role": "user", "content": content}]);
        let result = json!({"resultType": "complete", "messages": messages});
        let result: GetPromptResult = serde_json::from_value(result).unwrap();
        Ok(result.into())
    }

    async fn list_resources(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let resource = |uri: &str| Resource::new(uri, "a fixture");
        let all = ["test://static-text", "test://static-binary"].map(resource);
        Ok(ListResourcesResult::with_all_items(all.to_vec()))
    }

    async fn list_resource_templates(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let template = ResourceTemplate::new("test://template/{id}/data", "a fixture");
        Ok(ListResourceTemplatesResult::with_all_items(vec![template]))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let uri = request.uri.as_str();
        let id = uri.strip_prefix("test://template/");
        let contents = match (uri, id.and_then(|it| it.strip_suffix("/data"))) {
            ("test://static-text", _) => {
                json!({"uri": uri, "mimeType": "text/plain", "text": self.framed("text")["text"]})
            }
            ("test://static-binary", _) => {
                json!({"uri": uri, "mimeType": "image/png", "blob": PNG})
            }
            (_, Some(id)) => {
                json!({"uri": uri, "mimeType": "text/plain", "text": self.framed(id)["text"]})
            }
            _ => {
                let what = "there is no such resource";
                let asked = json!({"uri": uri});
                return Err(ErrorData::resource_not_found(what, Some(asked)));
            }
        };
        let result = json!({"resultType": "complete", "contents": [contents]});
        let result: ReadResourceResult = serde_json::from_value(result).unwrap();
        Ok(result.into())
    }
}
