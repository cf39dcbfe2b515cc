//! What MCP asks of a server with two tools: who it is, what the tools are, and their calls.

use std::borrow::Cow;
use std::sync::Arc;

use axum::http::request::Parts;
use pillion_protocol::diff::{ClosedContent, TOOLS};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, CompleteRequestParams, CompleteResult,
    ContentBlock, ErrorData, Implementation, ListPromptsResult, ListResourceTemplatesResult,
    ListResourcesResult, ListToolsResult, PaginatedRequestParams, ProtocolVersion,
    ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{RoleServer, ServerHandler};
use serde_json::Value;
use tokio::sync::oneshot;

use super::{Origin, SESSION_HEADER};
use crate::diffs::Answer;
use crate::event::{Event, Events};

/// The newest revision that has sessions and an event stream; newer ones know neither.
const NEWEST: ProtocolVersion = ProtocolVersion::V_2025_11_25;

#[derive(Debug, Clone)]
pub(super) struct Handler {
    events: Events,
    tools: Arc<[Tool]>,
}

impl Handler {
    pub(super) fn new(events: Events) -> Self {
        let tools = TOOLS.map(|tool| {
            let schema = match tool.input_schema() {
                Value::Object(schema) => schema,
                _ => Default::default(),
            };
            Tool::new(tool.name, tool.description, schema)
        });
        Self {
            events,
            tools: Arc::from(tools),
        }
    }

    /// Hands a tool call to the loop and waits for its answer.
    async fn call(
        &self,
        tool: String,
        context: &RequestContext<RoleServer>,
    ) -> Result<Result<Answer, String>, ErrorData> {
        let parts = context.extensions.get::<Parts>();
        let session = parts
            .and_then(|parts| parts.headers.get(SESSION_HEADER))
            .and_then(|id| id.to_str().ok())
            .ok_or_else(|| {
                ErrorData::invalid_request("a tool call needs a session: initialize first", None)
            })?;
        let arguments = parts
            .and_then(|parts| parts.extensions.get::<Origin>())
            .and_then(|origin| origin.arguments.clone())
            .map(Arc::unwrap_or_clone);
        let (caller, answer) = oneshot::channel();
        let event = Event::ToolCalled {
            session: session.into(),
            tool,
            arguments: arguments.unwrap_or_default(),
            caller,
        };
        let stopping = |_| ErrorData::internal_error("the companion is stopping", None);
        self.events.send(event).map_err(|_| stopping(()))?;
        answer.await.map_err(|_| stopping(()))
    }
}

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new("pillion", env!("CARGO_PKG_VERSION")))
            .with_protocol_version(NEWEST)
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        Cow::Borrowed(ProtocolVersion::known_up_to(&NEWEST))
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.tools.to_vec()))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.tools.iter().find(|tool| tool.name == name).cloned()
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        if self.get_tool(&request.name).is_none() {
            let message = format!("unknown tool {:?}", request.name);
            return Err(ErrorData::invalid_params(message, None));
        }
        let result = match self.call(request.name.into_owned(), &context).await? {
            Ok(Answer::Opened | Answer::Settled) => CallToolResult::success(Vec::new()),
            Ok(Answer::Closed(content)) => {
                let text = serde_json::to_string(&ClosedContent { content })
                    .map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
                CallToolResult::success(vec![ContentBlock::text(text)])
            }
            Err(reason) => CallToolResult::error(vec![ContentBlock::text(reason)]),
        };
        Ok(result.into())
    }

    // What was not declared does not exist; the SDK would answer with empty lists.

    async fn complete(
        &self,
        _request: CompleteRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        Err(ErrorData::method_not_found::<
            rmcp::model::CompleteRequestMethod,
        >())
    }

    async fn list_prompts(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Err(ErrorData::method_not_found::<
            rmcp::model::ListPromptsRequestMethod,
        >())
    }

    async fn list_resources(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        Err(ErrorData::method_not_found::<
            rmcp::model::ListResourcesRequestMethod,
        >())
    }

    async fn list_resource_templates(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Err(ErrorData::method_not_found::<
            rmcp::model::ListResourceTemplatesRequestMethod,
        >())
    }
}
