// Adds the companion's token (C3.2) to every request: the conformance suite has no option for it.
// Both of its clients, Node's own fetch and the package undici, tell of their requests here.
import { subscribe } from 'node:diagnostics_channel';

subscribe('undici:request:create', ({ request }) => {
  request.addHeader('authorization', `Bearer ${process.env.COMPANION_TOKEN}`);
});
