import { isJsonObject, type JsonObject } from '../../../src/platform/http/json-body.js';
import { OpenAiAdapter } from '../../../src/vendors/openai/openai.adapter.js';
import type { ContractVendor, FailureKind, Reply, ScriptedAnswer } from '../contract-vendor.js';
import { wordsOf } from '../words-of.js';
import { readChatRequest } from './read-chat-request.js';

const MODEL = 'gpt-4o-mini';
const KEY = 'key-of-the-contract-suite';
const HEAD = { id: 'chatcmpl-scripted', created: 1_700_000_000, model: `${MODEL}-2024-07-18` };
const NO_PROMPT_AUDIO = { audio_tokens: 0 };

/** OpenAI's chat completions. */
export const openAiVendor: ContractVendor = {
  name: 'openai',
  upstreamModel: MODEL,
  callerDialect: 'messages',
  countsReasoning: true,
  provider: { adapter: 'openai', type: 'openai', basePath: '/v1' },
  createAdapter: (origin, { transport }) =>
    new OpenAiAdapter(
      {
        id: 'openai',
        name: 'OpenAI',
        adapter: 'openai',
        type: 'openai',
        baseUrl: `${origin}/v1`,
        apiKey: KEY,
        settings: {},
      },
      transport,
    ),
  whole: (answer) => jsonReply(200, spellWhole(answer)),
  stream: (answer) => streamReply(spellChunks(answer)),
  failure: spellFailure,
  streamFailure: (text) =>
    streamReply([
      chunk({ choices: [choice({ delta: { role: 'assistant', content: text } })] }),
      chunk({ error: { message: 'The server had an error.', type: 'server_error', code: null } }),
    ]),
  readRequest: readChatRequest,
};

export function spellWhole(answer: ScriptedAnswer): JsonObject {
  const calls = (answer.toolCalls ?? []).map(({ id, name, arguments: args }) => ({
    id,
    type: 'function',
    function: { name, arguments: args },
  }));
  const message = {
    role: 'assistant',
    content: answer.text ?? null,
    refusal: null,
    ...(answer.reasoning && { reasoning_content: answer.reasoning.text }),
    ...(calls.length > 0 && { tool_calls: calls }),
  };
  return {
    ...HEAD,
    object: 'chat.completion',
    choices: [{ ...choice({ message }), finish_reason: finishOf(answer) }],
    usage: spellUsage(answer),
    system_fingerprint: 'fp_scripted',
  };
}

/** A stream's events without framing, including usage and `[DONE]`. */
export function spellChunks(answer: ScriptedAnswer): string[] {
  const deltas: JsonObject[] = [{ role: 'assistant', content: '', refusal: null }];
  if (answer.reasoning) deltas.push({ reasoning_content: answer.reasoning.text });
  const words = answer.text === undefined ? [] : wordsOf(answer.text);
  for (const word of words) deltas.push({ content: word });
  for (const [index, call] of (answer.toolCalls ?? []).entries()) {
    const { id, name, arguments: args } = call;
    const half = Math.ceil(args.length / 2);
    deltas.push({
      tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }],
    });
    for (const piece of [args.slice(0, half), args.slice(half)]) {
      if (piece !== '') deltas.push({ tool_calls: [{ index, function: { arguments: piece } }] });
    }
  }
  const chunks = deltas.map((delta) => chunk({ choices: [choice({ delta })], usage: null }));
  const finish = finishOf(answer);
  if (finish === null) return chunks;
  return [
    ...chunks,
    chunk({ choices: [{ ...choice({ delta: {} }), finish_reason: finish }], usage: null }),
    chunk({ choices: [], usage: spellUsage(answer) }),
    '[DONE]',
  ];
}

export function chunk(rest: JsonObject): string {
  return JSON.stringify({ ...HEAD, object: 'chat.completion.chunk', ...rest });
}

function choice(fields: JsonObject): JsonObject {
  return { index: 0, ...fields, logprobs: null, finish_reason: null };
}

function finishOf(answer: ScriptedAnswer): string | null {
  return answer.withoutFinish ? null : answer.finish;
}

function spellUsage({ usage }: ScriptedAnswer): JsonObject {
  return {
    prompt_tokens: usage.input,
    completion_tokens: usage.output,
    total_tokens: usage.input + usage.output,
    prompt_tokens_details: { ...NO_PROMPT_AUDIO, cached_tokens: usage.cacheRead ?? 0 },
    completion_tokens_details: { reasoning_tokens: usage.reasoning ?? 0 },
  };
}

/** Frames events like the vendor. */
export function streamReply(events: readonly string[]): Reply & { pieces: Buffer[] } {
  const pieces = events.map((event) => Buffer.from(`data: ${event}\n\n`));
  const headers = { 'content-type': 'text/event-stream; charset=utf-8' };
  return { status: 200, headers, body: Buffer.concat(pieces), pieces };
}

export function jsonReply(
  status: number,
  body: JsonObject,
  headers: Record<string, string> = {},
): Reply {
  return {
    status,
    headers: { 'content-type': 'application/json', ...headers },
    body: Buffer.from(JSON.stringify(body)),
  };
}

const FAILURES: Record<FailureKind, [status: number, error: JsonObject]> = {
  rate_limited: [
    429,
    { message: 'Rate limit reached.', type: 'requests', code: 'rate_limit_exceeded' },
  ],
  overloaded: [503, { message: 'The engine is overloaded.', type: 'server_error', code: null }],
  server: [500, { message: 'The server had an error.', type: 'server_error', code: null }],
  bad_request: [
    400,
    {
      message: 'Invalid value: 3.',
      type: 'invalid_request_error',
      param: 'temperature',
      code: 'decimal_above_max_value',
    },
  ],
  context_length: [
    400,
    {
      message: "This model's maximum context length is 128000 tokens.",
      type: 'invalid_request_error',
      param: 'messages',
      code: 'context_length_exceeded',
    },
  ],
  bad_key: [
    401,
    {
      message: 'Incorrect API key provided.',
      type: 'invalid_request_error',
      code: 'invalid_api_key',
    },
  ],
};

function spellFailure(kind: FailureKind): Reply {
  const [status, error] = FAILURES[kind];
  const headers: Record<string, string> = kind === 'rate_limited' ? { 'retry-after': '7' } : {};
  return jsonReply(status, { error: { param: null, ...error } }, headers);
}

/** Returns a reply's error object, for vendors with a similar format. */
export function errorOf(reply: Reply): JsonObject {
  const body = JSON.parse(reply.body.toString()) as JsonObject;
  return isJsonObject(body.error) ? body.error : {};
}
