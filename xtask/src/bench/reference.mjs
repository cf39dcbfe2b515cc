// The benchmark's reference: a companion in a few lines, with the official MCP SDK for TypeScript
// and express. It does what the contract asks in the simplest way: a diff is a text in a map, and
// a context is sent to every session when it did not change for 50 ms.
//
// Runs in the folder of the npm packages, with the token in TOKEN; prints {"port"} when it listens.
import { randomUUID } from 'node:crypto';
import express from 'express';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { z } from 'zod';

const DEBOUNCE = 50;
const bearer = `Bearer ${process.env.TOKEN}`;
const transports = new Map();
let context = {};
let debounce;

/** The tools of one session. */
function server() {
  const diffs = new Map();
  const server = new McpServer({ name: 'reference', version: '1.0.0' });
  server.registerTool(
    'openDiff',
    { inputSchema: { filePath: z.string(), newContent: z.string() } },
    ({ filePath, newContent }) => {
      diffs.set(filePath, newContent);
      return { content: [] };
    },
  );
  server.registerTool(
    'closeDiff',
    { inputSchema: { filePath: z.string(), suppressNotification: z.boolean().optional() } },
    ({ filePath }) => {
      const content = diffs.get(filePath);
      diffs.delete(filePath);
      return { content: [{ type: 'text', text: JSON.stringify({ content }) }] };
    },
  );
  return server;
}

/** A session begins with its `initialize`. */
async function newSession() {
  const transport = new StreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    onsessioninitialized: (id) => transports.set(id, transport),
  });
  transport.onclose = () => transports.delete(transport.sessionId);
  await server().connect(transport);
  return transport;
}

function sendContext() {
  for (const transport of transports.values()) {
    transport.send({ jsonrpc: '2.0', method: 'ide/contextUpdate', params: context }).catch(() => {});
  }
}

const app = express();
app.use((request, response, next) => {
  if (request.headers.authorization === bearer) next();
  else response.status(401).end();
});
app.use(express.json({ limit: '128mb' }));
app.all('/mcp', async (request, response) => {
  const id = request.headers['mcp-session-id'];
  const transport = id ? transports.get(id) : await newSession();
  if (transport) await transport.handleRequest(request, response, request.body);
  else response.status(404).end();
});
app.post('/control/focus', (request, response) => {
  context = { workspaceState: { openFiles: [request.body] } };
  clearTimeout(debounce);
  debounce = setTimeout(sendContext, DEBOUNCE);
  response.status(204).end();
});
const listener = app.listen(0, '127.0.0.1', () => {
  process.stdout.write(`${JSON.stringify({ port: listener.address().port })}\n`);
});
