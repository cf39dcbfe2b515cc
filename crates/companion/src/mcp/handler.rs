//! What MCP asks of a server with two tools: who it is, what the tools are, and their calls.

use std::borrow::Cow;
use std::sync::Arc;

use axum::http::request::Parts;
use pillion_protocol::diff::TOOLS;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CompleteRequestParams, CompleteResult, ErrorData,
    Implementation, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult,
    ListToolsResult, PaginatedRequestParams, ProtocolVersion, ServerCapabilities, ServerConfig,
    Tool,
};
use rmcp::service::RequestContext;
use rmcp::{RoleServer, ServerHandler};
use serde_json::Value;

use super::{Origin, SESSION_HEADER, calls};
use crate::event::Events;

/// The newest revision that has sessions and an event stream; newer ones know neither.
pub(super) const NEWEST: ProtocolVersion = ProtocolVersion::V_2025_11_25;

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
            .map(Arc::unwrap_or_clone)
            .unwrap_or_default();
        let answer = calls::call(&self.events, session.into(), &request.name, arguments);
        Ok(answer.await?.into())
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
