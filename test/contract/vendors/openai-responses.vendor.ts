import { isJsonObject, type JsonObject } from '../../../src/platform/http/json-body.js';
import type { ContractVendor, ReadRequest, ScriptedAnswer } from '../contract-vendor.js';
import type { RecordedCall } from '../scripted-server.js';
import { wordsOf } from '../words-of.js';
import { errorOf, jsonReply, openAiVendor } from './openai.vendor.js';

type Turn = ReadRequest['turns'][number];

const STREAM_HEADERS = { 'content-type': 'text/event-stream; charset=utf-8' };

/** The wire format of OpenAI's Responses API, for callers of that dialect. */
export const openAiResponsesVendor: ContractVendor = {
  ...openAiVendor,
  name: 'openai-responses',
  provider: { ...openAiVendor.provider!, settings: { responses: 'true' } },
  whole: (answer) => jsonReply(200, spellResponse(answer)),
  stream(answer) {
    const pieces = framed(
      answer.withoutFinish ? spellEvents(answer).slice(0, -1) : spellEvents(answer),
    );
    return { status: 200, headers: STREAM_HEADERS, body: Buffer.concat(pieces), pieces };
  },
  streamFailure(text) {
    const answer: ScriptedAnswer = { text, finish: 'stop', usage: { input: 0, output: 0 } };
    const started = spellEvents(answer).filter(
      ({ type }) => !/done$|completed$/.test(String(type)),
    );
    const error = { code: 'server_error', message: 'The server had an error.' };
    const failed = {
      type: 'response.failed',
      response: { ...spellResponse(answer), status: 'failed', output: [], error, usage: null },
    };
    const body = Buffer.concat(framed([...started, failed]));
    return { status: 200, headers: STREAM_HEADERS, body };
  },
  failure(kind) {
    const reply = openAiVendor.failure(kind);
    const error = errorOf(reply);
    if (error.param !== 'messages') return reply;
    return jsonReply(reply.status, { error: { ...error, param: 'input' } }, reply.headers);
  },
  readRequest: readResponsesRequest,
};

/** Distinguishes calls of the two APIs. */
export function isResponsesCall({ path }: RecordedCall): boolean {
  return path.endsWith('/responses');
}

function spellResponse(answer: ScriptedAnswer): JsonObject {
  const isCut = answer.finish === 'length' || answer.finish === 'content_filter';
  const reason = answer.finish === 'length' ? 'max_output_tokens' : 'content_filter';
  const { usage } = answer;
  return {
    id: 'resp_scripted',
    object: 'response',
    created_at: 1_700_000_000,
    status: isCut ? 'incomplete' : 'completed',
    error: null,
    incomplete_details: isCut ? { reason } : null,
    model: 'gpt-4o-mini-2024-07-18',
    output: spellItems(answer, isCut ? 'incomplete' : 'completed'),
    parallel_tool_calls: true,
    previous_response_id: null,
    store: false,
    usage: {
      input_tokens: usage.input,
      input_tokens_details: { cached_tokens: usage.cacheRead ?? 0 },
      output_tokens: usage.output,
      output_tokens_details: { reasoning_tokens: usage.reasoning ?? 0 },
      total_tokens: usage.input + usage.output,
    },
    metadata: {},
  };
}

function spellItems(
  { reasoning, text, toolCalls = [] }: ScriptedAnswer,
  status: string,
): JsonObject[] {
  const content = [{ type: 'output_text', annotations: [], logprobs: [], text }];
  return [
    ...(reasoning
      ? [
          {
            id: 'rs_scripted',
            type: 'reasoning',
            summary: [{ type: 'summary_text', text: reasoning.text }],
            encrypted_content: reasoning.signature ?? null,
          },
        ]
      : []),
    ...(text === undefined
      ? []
      : [{ id: 'msg_scripted', type: 'message', status, role: 'assistant', content }]),
    ...toolCalls.map(({ id, name, arguments: args }) => ({
      id: `fc_${id}`,
      type: 'function_call',
      status: 'completed',
      call_id: id,
      name,
      arguments: args,
    })),
  ];
}

/** The events of a stream, before numbering. */
function spellEvents(answer: ScriptedAnswer): JsonObject[] {
  const complete = spellResponse(answer);
  const started = { ...complete, status: 'in_progress', output: [], usage: null };
  const items = complete.output as JsonObject[];
  return [
    { type: 'response.created', response: started },
    { type: 'response.in_progress', response: started },
    ...items.flatMap(spellItemEvents),
    { type: `response.${String(complete.status)}`, response: complete },
  ];
}

function spellItemEvents(item: JsonObject, output_index: number): JsonObject[] {
  const at = { item_id: item.id, output_index };
  const done = { type: 'response.output_item.done', output_index, item };
  const added = (rest: object): JsonObject => ({
    type: 'response.output_item.added',
    output_index,
    item: { ...item, ...rest },
  });
  if (item.type === 'function_call') {
    const args = String(item.arguments);
    return [
      added({ status: 'in_progress', arguments: '' }),
      { type: 'response.function_call_arguments.delta', ...at, delta: args },
      { type: 'response.function_call_arguments.done', ...at, arguments: args, name: item.name },
      done,
    ];
  }
  if (item.type === 'reasoning') return [added({}), done];
  const [part] = item.content as [JsonObject];
  const place = { ...at, content_index: 0 };
  const deltas = wordsOf(String(part.text));
  return [
    added({ status: 'in_progress', content: [] }),
    { type: 'response.content_part.added', ...place, part: { ...part, text: '' } },
    ...deltas.map((delta) => ({
      type: 'response.output_text.delta',
      ...place,
      delta,
      logprobs: [],
      obfuscation: 'x7',
    })),
    { type: 'response.output_text.done', ...place, text: part.text, logprobs: [] },
    { type: 'response.content_part.done', ...place, part },
    done,
  ];
}

function framed(events: readonly JsonObject[]): Buffer[] {
  return events.map(({ type, ...rest }, sequence_number) => {
    const data = JSON.stringify({ type, sequence_number, ...rest });
    return Buffer.from(`event: ${String(type)}\ndata: ${data}\n\n`);
  });
}

/** Parses a Responses request into the suite's terms. Tool results belong to the user's turn. */
function readResponsesRequest({ body }: RecordedCall): ReadRequest {
  const request = JSON.parse(body.toString()) as JsonObject;
  const system = typeof request.instructions === 'string' ? [request.instructions] : [];
  const turns: Turn[] = [];
  const turnOf = (role: Turn['role']): Turn => {
    const last = turns.at(-1);
    if (last?.role === role) return last;
    const turn: Turn = { role, text: '', toolCalls: [], toolResults: [] };
    turns.push(turn);
    return turn;
  };
  for (const item of itemsOf(request.input)) {
    if (item.type === 'function_call') {
      const args = JSON.parse(String(item.arguments)) as unknown;
      turnOf('assistant').toolCalls.push({ name: String(item.name), arguments: args });
    } else if (item.type === 'function_call_output') {
      turnOf('user').toolResults.push(textOf(item.output));
    } else if (item.role === 'system' || item.role === 'developer') {
      system.push(textOf(item.content));
    } else if (item.type !== 'reasoning') {
      turnOf(item.role === 'assistant' ? 'assistant' : 'user').text += textOf(item.content);
    }
  }
  const { tool_choice: choice } = request;
  return {
    system: system.join('\n'),
    turns,
    tools: ((request.tools ?? []) as { name: string }[]).map(({ name }) => name),
    toolChoice: (isJsonObject(choice)
      ? { name: choice.name }
      : choice) as ReadRequest['toolChoice'],
    maxOutputTokens: request.max_output_tokens as number | undefined,
    temperature: request.temperature as number | undefined,
    stop: [],
    stream: request.stream === true,
  };
}

function itemsOf(input: unknown): JsonObject[] {
  return typeof input === 'string' ? [{ role: 'user', content: input }] : (input as JsonObject[]);
}

function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  return ((content ?? []) as { text?: string }[]).map(({ text = '' }) => text).join('');
}
