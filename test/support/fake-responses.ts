import type http from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { sendJson, type FakeAnswer, type FakeOpenAi, type RecordedCall } from './fake-openai.js';

type Json = Record<string, unknown>;

export interface FakeResponse {
  text?: string;
  /** Replaces the message. */
  output?: Json[];
  status?: 'completed' | 'incomplete';
  incompleteReason?: string;
  usage?: Json | null;
  chunkDelayMs?: number;
}

export const RESPONSES_USAGE = {
  input_tokens: 20,
  input_tokens_details: { cached_tokens: 4 },
  output_tokens: 6,
  output_tokens_details: { reasoning_tokens: 2 },
  total_tokens: 26,
};

/** A complete answer in the vendor's own bytes, whole or streamed as requested. */
export function respond(options: FakeResponse = {}): FakeAnswer {
  return async (call, response) => {
    if (call.body.stream !== true) {
      sendJson(response, 200, responseOf(call, options));
      return;
    }
    response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
    for (const event of streamEvents(call, options)) {
      if (options.chunkDelayMs !== undefined) await wait(options.chunkDelayMs);
      if (response.destroyed) return;
      writeEvent(response, event);
    }
    response.end();
  };
}

export function writeEvent(response: http.ServerResponse, event: Json): void {
  response.write(`event: ${String(event.type)}\ndata: ${JSON.stringify(event)}\n\n`);
}

/** The events of a stream, numbered. */
export function streamEvents(call: RecordedCall, options: FakeResponse = {}): Json[] {
  const complete = responseOf(call, options);
  const started = { ...complete, status: 'in_progress', output: [], usage: null };
  const events: Json[] = [
    { type: 'response.created', response: started },
    { type: 'response.in_progress', response: started },
  ];
  for (const [output_index, item] of (complete.output as Json[]).entries()) {
    const place = { item_id: item.id, output_index };
    if (item.type !== 'message') {
      events.push({ type: 'response.output_item.added', output_index, item });
      events.push({ type: 'response.output_item.done', output_index, item });
      continue;
    }
    const added = { ...item, status: 'in_progress', content: [] };
    events.push({ type: 'response.output_item.added', output_index, item: added });
    for (const [content_index, part] of (item.content as Json[]).entries()) {
      const at = { ...place, content_index };
      events.push({ type: 'response.content_part.added', ...at, part: { ...part, text: '' } });
      for (const delta of String(part.text).match(/\S+\s*/g) ?? []) {
        events.push({
          type: 'response.output_text.delta',
          ...at,
          delta,
          logprobs: [],
          obfuscation: 'x7"\\',
        });
      }
      events.push({ type: 'response.output_text.done', ...at, text: part.text, logprobs: [] });
      events.push({ type: 'response.content_part.done', ...at, part });
    }
    events.push({ type: 'response.output_item.done', output_index, item });
  }
  events.push({ type: `response.${String(complete.status)}`, response: complete });
  return events.map(({ type, ...rest }, sequence_number) => ({ type, sequence_number, ...rest }));
}

function responseOf({ body }: RecordedCall, options: FakeResponse): Json {
  const { text = 'Hello from the fake.', status = 'completed', incompleteReason } = options;
  const message = {
    id: 'msg_fake',
    type: 'message',
    status,
    role: 'assistant',
    content: [{ type: 'output_text', annotations: [], logprobs: [], text }],
  };
  return {
    id: 'resp_vendor',
    object: 'response',
    created_at: 1_700_000_000,
    status,
    background: false,
    error: null,
    incomplete_details: incompleteReason === undefined ? null : { reason: incompleteReason },
    instructions: body.instructions ?? null,
    model: `${String(body.model)}-2024-07-18`,
    output: options.output ?? [message],
    parallel_tool_calls: true,
    previous_response_id: null,
    reasoning: { effort: null, summary: null },
    store: false,
    temperature: 1,
    text: { format: { type: 'text' } },
    tool_choice: 'auto',
    tools: [],
    top_p: 1,
    truncation: 'disabled',
    usage: options.usage === undefined ? RESPONSES_USAGE : options.usage,
    metadata: {},
  };
}

/** Makes the vendor hold its answers back. @returns a function that releases them */
export function holdBack(fake: FakeOpenAi): () => void {
  let letGo = (): void => undefined;
  const gate = new Promise<void>((resolve) => (letGo = resolve));
  fake.answer = async (call, response) => {
    await gate;
    await respond()(call, response);
  };
  return letGo;
}
