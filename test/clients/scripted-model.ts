import type { ReadRequest, ScriptedAnswer } from '../contract/contract-vendor.js';
import type { FleetMember } from '../contract/vendor-fleet.js';

/** Every model's final text, once it has no tool to call. */
export const TEXT = 'Sunny, and it is half past twelve.';

/** A command for agents with a shell, and its output. */
export const COMMAND = 'expr 40 + 2000';
export const COMMAND_OUTPUT = '2040';

/** Names of the agents' shell tools, and their arguments. */
const SHELLS: Record<string, object> = {
  Bash: { command: COMMAND, description: 'Adds two numbers' },
  exec_command: { cmd: COMMAND },
  shell: { command: ['bash', '-lc', COMMAND] },
  shell_command: { command: COMMAND },
};

/** The arguments of every other tool, as the programs of this folder define theirs. */
const ARGUMENTS = { city: 'Zürich', days: 2 };

const USAGE = { input: 100, output: 20 };

/**
 * Makes a fake vendor answer like a model: it calls a tool if there is one, a shell only when asked to, and
 * otherwise returns the same text.
 */
export function answerLikeAModel(member: FleetMember): void {
  member.respond((spelling, call) => {
    // Health checks have no body.
    if (call.body.length === 0) return { status: 200, headers: {}, body: Buffer.from('{}') };
    const request = spelling.readRequest(call);
    const answer = answerTo(request);
    return request.stream ? spelling.stream(answer) : spelling.whole(answer);
  });
}

function answerTo({ turns, tools }: ReadRequest): ScriptedAnswer {
  const isDone = turns.some(({ toolResults }) => toolResults.length > 0);
  const prompt = turns.map(({ text }) => text).join('\n');
  const shell = tools.find((name) => Object.hasOwn(SHELLS, name));
  const name = shell === undefined ? tools[0] : prompt.includes(COMMAND) ? shell : undefined;
  if (isDone || name === undefined) return { text: TEXT, finish: 'stop', usage: USAGE };
  const toolCall = { id: 'call_one', name, arguments: JSON.stringify(SHELLS[name] ?? ARGUMENTS) };
  return { toolCalls: [toolCall], finish: 'tool_calls', usage: USAGE };
}
