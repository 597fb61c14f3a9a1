import type { JsonObject } from '../../../src/platform/http/json-body.js';
import type { ReadRequest } from '../contract-vendor.js';
import type { RecordedCall } from '../scripted-server.js';

type Turn = ReadRequest['turns'][number];

interface SpelledCall {
  function: { name: string; arguments: string };
}

/** Parses a chat completions request into the suite's terms. Tool results belong to the user's turn. */
export function readChatRequest({ body }: RecordedCall): ReadRequest {
  const request = JSON.parse(body.toString()) as JsonObject;
  const messages = request.messages as JsonObject[];
  const instructions = messages.filter((message) => message.role === 'system');
  const turns: Turn[] = [];
  for (const message of messages) {
    if (message.role === 'system') continue;
    const role = message.role === 'assistant' ? 'assistant' : 'user';
    const last = turns.at(-1);
    const turn = last?.role === role ? last : newTurn(role);
    if (turn !== last) turns.push(turn);
    if (message.role === 'tool') {
      turn.toolResults.push(textOf(message.content));
      continue;
    }
    turn.text += textOf(message.content);
    for (const call of (message.tool_calls ?? []) as SpelledCall[]) {
      const { name, arguments: args } = call.function;
      turn.toolCalls.push({ name, arguments: JSON.parse(args) });
    }
  }
  return {
    system: instructions.map((message) => textOf(message.content)).join('\n'),
    turns,
    tools: ((request.tools ?? []) as SpelledCall[]).map((tool) => tool.function.name),
    toolChoice: readToolChoice(request.tool_choice),
    maxOutputTokens: (request.max_completion_tokens ?? request.max_tokens) as number | undefined,
    temperature: request.temperature as number | undefined,
    stop: (request.stop ?? []) as string[],
    stream: request.stream === true,
  };
}

function newTurn(role: Turn['role']): Turn {
  return { role, text: '', toolCalls: [], toolResults: [] };
}

function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  const parts = (content ?? []) as { text?: string }[];
  return parts.map((part) => part.text ?? '').join('');
}

function readToolChoice(choice: unknown): ReadRequest['toolChoice'] {
  if (typeof choice !== 'object' || choice === null) return choice as ReadRequest['toolChoice'];
  return { name: (choice as SpelledCall).function.name };
}
