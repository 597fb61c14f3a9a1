import { AnthropicAdapter } from '../../../src/vendors/anthropic/anthropic.adapter.js';
import type { JsonObject } from '../../../src/platform/http/json-body.js';
import {
  MESSAGE_STOP,
  PING,
  blockDelta,
  blockStart,
  blockStop,
  errorEvent,
  messageEnd,
  messageStart,
  textBlock,
  toolBlock,
} from '../../support/messages-stream.js';
import type {
  ContractVendor,
  FailureKind,
  ReadRequest,
  Reply,
  ScriptedAnswer,
} from '../contract-vendor.js';
import { wordsOf } from '../words-of.js';

const STOP_REASONS: Record<ScriptedAnswer['finish'], string> = {
  stop: 'end_turn',
  length: 'max_tokens',
  tool_calls: 'tool_use',
  content_filter: 'refusal',
};

const FAILURES: Record<FailureKind, { status: number; type: string; message: string }> = {
  rate_limited: { status: 429, type: 'rate_limit_error', message: 'Rate limit exceeded.' },
  overloaded: { status: 529, type: 'overloaded_error', message: 'Overloaded' },
  server: { status: 500, type: 'api_error', message: 'Internal server error' },
  bad_request: {
    status: 400,
    type: 'invalid_request_error',
    message: 'temperature: Input should be less than or equal to 1',
  },
  context_length: {
    status: 400,
    type: 'invalid_request_error',
    message: 'prompt is too long: 207791 tokens > 200000 maximum',
  },
  bad_key: { status: 401, type: 'authentication_error', message: 'invalid x-api-key' },
};

const JSON_HEADERS = { 'content-type': 'application/json', 'request-id': 'req_1' };
const SSE_HEADERS = { 'content-type': 'text/event-stream; charset=utf-8', 'request-id': 'req_1' };

/** The wire format of Anthropic's messages API. */
export const anthropicVendor: ContractVendor = {
  name: 'anthropic',
  upstreamModel: 'claude-haiku-4-5',
  provider: { adapter: 'anthropic', type: 'anthropic' },

  createAdapter: (origin, { transport }) =>
    new AnthropicAdapter(
      {
        id: 'anthropic',
        name: 'Anthropic',
        adapter: 'anthropic',
        type: 'anthropic',
        baseUrl: origin,
        apiKey: 'sk-ant-contract-0123456789',
        settings: {},
      },
      transport,
    ),

  whole: (answer) => json(200, wholeMessage(answer)),

  stream(answer) {
    const pieces = streamPieces(answer).map((piece) => Buffer.from(piece));
    return { status: 200, headers: SSE_HEADERS, body: Buffer.concat(pieces), pieces };
  },

  failure(kind) {
    const { status, type, message } = FAILURES[kind];
    const reply = json(status, { type: 'error', error: { type, message }, request_id: 'req_1' });
    if (kind === 'rate_limited') reply.headers['retry-after'] = '1';
    return reply;
  },

  streamFailure(text) {
    const events =
      messageStart() +
      blockStart(0, { type: 'text', text: '' }) +
      blockDelta(0, { type: 'text_delta', text }) +
      errorEvent('overloaded_error', 'Overloaded');
    return { status: 200, headers: SSE_HEADERS, body: Buffer.from(events) };
  },

  readRequest: ({ body }) => readRequest(JSON.parse(body.toString('utf8')) as JsonObject),
};

function json(status: number, body: unknown): Reply {
  return { status, headers: { ...JSON_HEADERS }, body: Buffer.from(JSON.stringify(body)) };
}

function wholeMessage(answer: ScriptedAnswer): object {
  const { text, reasoning, toolCalls = [], finish, withoutFinish } = answer;
  const content: object[] = [];
  if (reasoning) {
    const { text: thinking, signature = '', encrypted } = reasoning;
    content.push({ type: 'thinking', thinking, signature });
    if (encrypted !== undefined) content.push({ type: 'redacted_thinking', data: encrypted });
  }
  if (text !== undefined) content.push({ type: 'text', text });
  for (const { id, name, arguments: args } of toolCalls) {
    content.push({ type: 'tool_use', id, name, input: JSON.parse(args) as unknown });
  }
  return {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'claude-haiku-4-5-20251001',
    content,
    stop_reason: withoutFinish ? null : STOP_REASONS[finish],
    stop_sequence: null,
    usage: { ...inputUsage(answer), ...outputUsage(answer) },
  };
}

function streamPieces(answer: ScriptedAnswer): string[] {
  const { text, reasoning, toolCalls = [], finish, withoutFinish } = answer;
  const pieces = [messageStart({ ...inputUsage(answer), output_tokens: 1 }), PING];
  let index = 0;
  if (reasoning) {
    pieces.push(
      blockStart(index, { type: 'thinking', thinking: '', signature: '' }),
      ...piecesOf(reasoning.text).map((thinking) =>
        blockDelta(index, { type: 'thinking_delta', thinking }),
      ),
    );
    const { signature } = reasoning;
    if (signature !== undefined) {
      pieces.push(blockDelta(index, { type: 'signature_delta', signature }));
    }
    pieces.push(blockStop(index++));
    if (reasoning.encrypted !== undefined) {
      const block = { type: 'redacted_thinking', data: reasoning.encrypted };
      pieces.push(blockStart(index, block), blockStop(index++));
    }
  }
  if (text !== undefined) pieces.push(...events(textBlock(index++, ...piecesOf(text))));
  for (const { id, name, arguments: args } of toolCalls) {
    pieces.push(...events(toolBlock(index++, id, name, '', ...halvesOf(args))));
  }
  if (withoutFinish) return pieces;
  pieces.push(messageEnd(STOP_REASONS[finish], outputUsage(answer)), MESSAGE_STOP);
  return pieces;
}

/** `input_tokens` excludes cached tokens. */
function inputUsage({ usage: { input, cacheRead = 0 } }: ScriptedAnswer): object {
  return {
    input_tokens: input - cacheRead,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: cacheRead,
    cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 },
    service_tier: 'standard',
  };
}

function outputUsage({ usage: { output, reasoning } }: ScriptedAnswer): object {
  const details = reasoning === undefined ? null : { thinking_tokens: reasoning };
  return { output_tokens: output, output_tokens_details: details };
}

function events(stream: string): string[] {
  return stream.match(/.+?\n\n/gs) ?? [];
}

function piecesOf(text: string): string[] {
  return wordsOf(text);
}

function halvesOf(text: string): string[] {
  const middle = Math.floor(text.length / 2);
  return [text.slice(0, middle), text.slice(middle)];
}

interface SentBlock {
  type: string;
  text?: string;
  name?: string;
  input?: unknown;
  content?: SentBlock[];
}

interface SentTurn {
  role: 'user' | 'assistant';
  content: string | SentBlock[];
}

function readRequest(body: JsonObject): ReadRequest {
  const turns = (body.messages as SentTurn[]).map(({ role, content }) => {
    const blocks = blocksOf(content);
    return {
      role,
      text: textOf(blocks),
      toolCalls: blocks
        .filter(({ type }) => type === 'tool_use')
        .map(({ name = '', input }) => ({ name, arguments: input })),
      toolResults: blocks
        .filter(({ type }) => type === 'tool_result')
        .map((block) => textOf(blocksOf(block.content))),
    };
  });
  const tools = (body.tools ?? []) as { name: string }[];
  return {
    system: textOf(blocksOf(body.system as string | SentBlock[] | undefined)),
    turns,
    tools: tools.map(({ name }) => name),
    toolChoice: readToolChoice(body.tool_choice as { type: string; name: string } | undefined),
    maxOutputTokens: body.max_tokens as number | undefined,
    temperature: body.temperature as number | undefined,
    stop: (body.stop_sequences ?? []) as string[],
    stream: body.stream === true,
  };
}

function readToolChoice(
  choice: { type: string; name: string } | undefined,
): ReadRequest['toolChoice'] {
  switch (choice?.type) {
    case undefined:
      return undefined;
    case 'any':
      return 'required';
    case 'tool':
      return { name: choice?.name ?? '' };
    default:
      return choice?.type as 'auto' | 'none';
  }
}

function blocksOf(content: string | SentBlock[] | undefined): SentBlock[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : (content ?? []);
}

function textOf(blocks: readonly SentBlock[]): string {
  return blocks.map(({ text = '' }) => text).join('');
}
