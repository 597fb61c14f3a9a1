import type { CanonicalMessage, ToolDefinition } from '../../src/canonical/canonical-request.js';
import type { PromptOverrides } from '../support/canonical-requests.js';
import type { ScriptedAnswer } from './contract-vendor.js';

export const SYSTEM = 'Be brief.';
export const QUESTION = 'What is the weather, and the time?';
/** The results of the two tools. */
export const RESULTS: readonly string[] = ['Sunny, 21 degrees.', '12:30'];

export const USAGE = { input: 100, output: 50, cacheRead: 40, reasoning: 20 };

const objectOf = (properties: object): Record<string, unknown> => ({
  type: 'object',
  properties,
});

export const TOOLS: readonly ToolDefinition[] = [
  {
    name: 'get_weather',
    description: 'The weather of a city.',
    parameters: objectOf({ city: { type: 'string' }, days: { type: 'integer' } }),
  },
  { name: 'get_time', description: 'The time now.', parameters: objectOf({}) },
];

/** The vendor calls two tools at once. */
export const TWO_CALLS: ScriptedAnswer = {
  text: 'Let me see.',
  toolCalls: [
    { id: 'call_one', name: 'get_weather', arguments: '{"city":"Zürich","days":2}' },
    { id: 'call_two', name: 'get_time', arguments: '{}' },
  ],
  finish: 'tool_calls',
  usage: USAGE,
};

/** The vendor's answer to the tools' results. */
export const LAST_WORD: ScriptedAnswer = {
  text: 'Sunny, and it is half past twelve.',
  finish: 'stop',
  usage: { input: 180, output: 12 },
};

/** The conversation before the tool calls. */
export function firstTurn(): PromptOverrides {
  return { messages: [system(), question()], tools: TOOLS };
}

/** The conversation with the tools' results, for calls with these ids. */
export function secondTurn(ids: readonly string[], ...more: CanonicalMessage[]): PromptOverrides {
  const calls = TWO_CALLS.toolCalls!.map((call, index) => ({
    type: 'tool_call' as const,
    id: ids[index]!,
    name: call.name,
    arguments: call.arguments,
  }));
  const results = RESULTS.map((text, index) => ({
    type: 'tool_result' as const,
    toolCallId: ids[index]!,
    parts: [{ type: 'text' as const, text }],
  }));
  const messages: CanonicalMessage[] = [
    system(),
    question(),
    { role: 'assistant', parts: [{ type: 'text', text: TWO_CALLS.text! }, ...calls] },
    { role: 'tool', parts: results },
    ...more,
  ];
  return { messages, tools: TOOLS };
}

function system(): CanonicalMessage {
  return { role: 'system', parts: [{ type: 'text', text: SYSTEM }] };
}

function question(): CanonicalMessage {
  return { role: 'user', parts: [{ type: 'text', text: QUESTION }] };
}
