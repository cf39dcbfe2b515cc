// JSON-RPC with headers, as in the Language Server Protocol, over the streams of a child process.

/** @typedef {(params: any) => any} Handler */

class Connection {
  /**
   * @param {import("child_process").ChildProcessWithoutNullStreams} child
   * @param {Record<string, Handler>} handlers by method: of requests, they return the result
   */
  constructor(child, handlers) {
    this.child = child;
    this.handlers = handlers;
    this.lastId = 0;
    /** @type {Map<number, { done: Handler, failed: (error: Error) => void }>} */
    this.asked = new Map();
    this.isOver = false;
    /** @type {Buffer[]} */
    this.parts = [];
    this.length = 0;
    /** @type {number | undefined} the length of input with which a whole message is there */
    this.wanted = undefined;
    child.stdin.on("error", () => {}); // "close" says it
    child.stdout.on("data", (bytes) => this.#read(bytes));
    child.on("close", () => this.#end());
    child.on("error", () => this.#end());
  }

  /**
   * @param {string} method
   * @param {object} [params]
   * @returns {Promise<any>}
   */
  ask(method, params) {
    if (this.isOver) return Promise.reject(new Error("Pillion is not running."));
    const id = ++this.lastId;
    return new Promise((done, failed) => {
      this.asked.set(id, { done, failed });
      this.#send({ id, method, params });
    });
  }

  /**
   * @param {string} method
   * @param {object} [params]
   */
  notify(method, params) {
    if (!this.isOver) this.#send({ method, params });
  }

  /** @param {object} message */
  #send(message) {
    const body = Buffer.from(JSON.stringify({ jsonrpc: "2.0", ...message }));
    this.child.stdin.write(`Content-Length: ${body.length}\r\n\r\n`);
    this.child.stdin.write(body);
  }

  /** @param {Buffer} bytes */
  #read(bytes) {
    this.parts.push(bytes);
    this.length += bytes.length;
    // A large message comes in thousands of parts: they are put together once all are there.
    while (this.length >= (this.wanted ?? 1)) {
      const input = Buffer.concat(this.parts);
      this.parts = [input];
      const header = input.indexOf("\r\n\r\n");
      if (header < 0) return;
      const length = Number(/content-length: *(\d+)/i.exec(input.toString("latin1", 0, header))?.[1]);
      const end = header + 4 + length;
      this.wanted = end;
      if (input.length < end) return;
      this.wanted = undefined;
      this.parts = [input.subarray(end)];
      this.length = input.length - end;
      this.#receive(JSON.parse(input.toString("utf8", header + 4, end)));
    }
  }

  /** @param {any} message */
  async #receive({ id, method, params, result, error }) {
    if (method === undefined) {
      const asked = this.asked.get(id);
      this.asked.delete(id);
      if (error) asked?.failed(new Error(error.message));
      else asked?.done(result);
      return;
    }
    const handler = this.handlers[method];
    if (id === undefined) {
      await handler?.(params);
      return;
    }
    if (!handler) return this.#send({ id, error: { code: -32601, message: `unknown method ${method}` } });
    try {
      this.#send({ id, result: (await handler(params)) ?? null });
    } catch (failure) {
      this.#send({ id, error: { code: -32603, message: /** @type {Error} */ (failure).message } });
    }
  }

  #end() {
    this.isOver = true;
    for (const { failed } of this.asked.values()) failed(new Error("Pillion has ended."));
    this.asked.clear();
  }
}

module.exports = { Connection };
