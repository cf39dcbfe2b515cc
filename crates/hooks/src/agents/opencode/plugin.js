// Pillion's plugin for opencode: `pillion hook install opencode` writes it, and replaces it as a whole.
//
// It shows a person each change before opencode makes it, and records what opencode changes. opencode's plugins are
// called around each tool and at each event; all that this one does is to start Pillion's hook with what it is told, and to do what
// the hook answers. As with the hooks of other agents, opencode goes on if the hook cannot be started or crashes.

import { spawn } from "node:child_process"
import { resolve } from "node:path"

// The hook, and the tools that it is asked about.
const HOOK = []
const TOOLS = []

export const Pillion = async ({ client, directory }) => {
  const parents = new Map() // The session that has started a subagent's session, by the latter.
  const stopped = new Set() // The sessions that the person has stopped, until their next prompt.
  const waiting = new Map() // The session about which a hook waits for an answer, by its process.
  const running = new Map() // The calls that were let pass and have not ended, by opencode's name for them.
  const changing = new Map() // The end of the newest call that changes a file, by the file.
  const ends = new Map() // What tells that such a call has ended, by opencode's name for it.

  const lineage = (session) => (session ? [session, ...lineage(parents.get(session))] : [])
  const isStopped = (session) => lineage(session).some((one) => stopped.has(one))

  // A call as Claude Code would describe it. A subagent works in a session of its own, for the person's.
  const describe = (event, session, more) => {
    const subagent = parents.has(session) && { agent_id: session }
    return { hook_event_name: event, session_id: lineage(session).at(-1), cwd: directory, ...subagent, ...more }
  }

  // Tells the person something that is not worth stopping for. Where nobody looks, nobody is told.
  const warn = (message) => client.tui.showToast({ body: { message, variant: "warning" } }).catch(() => {})

  const parse = (text) => {
    try {
      return JSON.parse(text)
    } catch {
      return {}
    }
  }

  // Starts the hook, and returns its answer: an exit code, what it says, and a reason if it blocks the call.
  const ask = (session, call) =>
    new Promise((resolve) => {
      const hook = spawn(HOOK[0], HOOK.slice(1), { cwd: directory, stdio: "pipe" })
      const said = { stdout: "", stderr: "" }
      for (const name of ["stdout", "stderr"]) {
        hook[name].setEncoding("utf8").on("data", (text) => (said[name] += text))
      }
      const end = (code, failure) => {
        waiting.delete(hook)
        const { systemMessage, hookSpecificOutput } = parse(said.stdout)
        const ended = code === 0 || code === 2 || isStopped(session)
        const message = ended ? systemMessage : `Pillion's hook does not work (${failure}), so changes are not shown.`
        if (message) warn(message)
        resolve({ isBlocked: code === 2, why: said.stderr, ...hookSpecificOutput })
      }
      hook.on("error", (error) => end(null, error.message))
      hook.on("close", (code, signal) => end(code, signal ?? `it ended with ${code}`))
      hook.stdin.on("error", () => {}) // It has ended, which is told above.
      hook.stdin.end(JSON.stringify(call))
      waiting.set(hook, session)
    })

  // The files that a call changes.
  const filesOf = ({ filePath, patchText }) => {
    const patched = patchText?.matchAll(/^\*\*\* (?:(?:Add|Update|Delete) File|Move to): (.+)$/gm) ?? []
    return [filePath, ...[...patched].map(([, file]) => file.trim())].filter(Boolean).map((file) => resolve(directory, file))
  }

  // opencode makes the calls of an answer at once. What is shown of a file is its text after the calls before.
  const takeTurn = async (callID, files) => {
    const before = files.map((file) => changing.get(file))
    const ended = new Promise((end) => ends.set(callID, end))
    for (const file of files) changing.set(file, ended)
    await Promise.all(before)
  }
  const leave = (callID) => {
    ends.get(callID)?.()
    ends.delete(callID)
  }

  // The call has ended: the model is told what the hook has to say.
  const ended = async (callID, event) => {
    leave(callID)
    const call = running.get(callID)
    if (!call) return []
    running.delete(callID)
    const { additionalContext } = await ask(call.session, { ...call.description, hook_event_name: event })
    return [call.told, additionalContext].filter(Boolean)
  }

  const events = {
    "session.created": ({ info }) => {
      if (info.parentID) parents.set(info.id, info.parentID)
    },
    // opencode would make a change that is accepted after this, so the hook must not go on waiting.
    "session.error": ({ sessionID, error }) => {
      if (error?.name !== "MessageAbortedError") return
      stopped.add(sessionID)
      for (const [hook, session] of waiting) if (isStopped(session)) hook.kill("SIGTERM")
      for (const callID of ends.keys()) leave(callID)
    },
    "session.idle": async ({ sessionID }) => {
      if (!parents.has(sessionID)) await ask(sessionID, describe("Stop", sessionID))
    },
    // A tool that fails is not told in any other way.
    "message.part.updated": async ({ part }) => {
      if (part.type === "tool" && part.state.status === "error") await ended(part.callID, "PostToolUseFailure")
    },
  }

  return {
    event: async ({ event }) => events[event.type]?.(event.properties),

    "chat.message": async ({ sessionID }, { message, parts }) => {
      stopped.delete(sessionID)
      if (parents.has(sessionID)) return // No person has written it.
      const texts = parts.filter((part) => part.type === "text" && !part.synthetic)
      const prompt = texts.map((part) => part.text).join("\n")
      const { additionalContext } = await ask(sessionID, describe("UserPromptSubmit", sessionID, { prompt }))
      if (!additionalContext) return
      const id = `${parts.at(-1)?.id ?? "prt_"}pillion` // opencode puts parts in the order of their names.
      const part = { id, sessionID, messageID: message.id, type: "text", text: additionalContext, synthetic: true }
      parts.push(part)
    },

    "tool.execute.before": async ({ tool, sessionID, callID }, { args }) => {
      if (!TOOLS.includes(tool)) return
      const more = { tool_name: tool, tool_use_id: callID, tool_input: args }
      const description = describe("PreToolUse", sessionID, more)
      await takeTurn(callID, filesOf(args))
      const answer = isStopped(sessionID) ? {} : await ask(sessionID, description)
      const isDenied = answer.permissionDecision === "deny" && answer.permissionDecisionReason
      const why = isStopped(sessionID) ? "The user has stopped this." : answer.isBlocked ? answer.why : isDenied
      if (why) {
        leave(callID)
        throw new Error(why)
      }
      Object.assign(args, answer.updatedInput)
      running.set(callID, { session: sessionID, description, told: answer.additionalContext })
    },

    "tool.execute.after": async ({ callID }, output) => {
      const told = await ended(callID, "PostToolUse")
      output.output = [output.output, ...told].join("\n")
    },
  }
}
