// Written by `overspill setup opencode`, taken away with --remove.
import { spawn } from "node:child_process"

const ask = (input) => new Promise((resolve) => {
  const child = spawn(PROGRAM, ["hook", "opencode"], { stdio: ["pipe", "pipe", "ignore"] })
  const late = setTimeout(() => { child.kill("SIGKILL"); resolve({}) }, LIMIT)
  const end = (answer) => { clearTimeout(late); resolve(answer ?? {}) }
  let text = ""
  child.stdout.setEncoding("utf8")
  child.stdout.on("data", (more) => { text += more })
  child.stdin.on("error", () => {})
  child.on("error", () => end())
  child.on("close", () => {
    try { end(JSON.parse(text).hookSpecificOutput) } catch { end() }
  })
  child.stdin.end(JSON.stringify(input))
})

export const Overspill = async () => ({
  "tool.execute.after": async (input, output) => {
    // An MCP server's result has texts instead of one output.
    const { content, metadata } = output
    const response = { output: output.output, metadata, content }
    const answer = await ask({
      hook_event_name: "tool.execute.after", tool_name: input.tool, tool_input: input.args ?? {}, tool_response: response,
    })
    const note = answer.additionalContext
    if (!note) return
    if (Array.isArray(content)) content.unshift({ type: "text", text: note })
    else output.output += "\n\n" + note
  },
})
