import { EventStreamCodec } from '@smithy/eventstream-codec';
import { fromUtf8, toUtf8 } from '@smithy/util-utf8';
import { BedrockAdapter } from '../../../src/vendors/bedrock/bedrock.adapter.js';
import type {
  ContractVendor,
  FailureKind,
  ReadRequest,
  Reply,
  ScriptedAnswer,
} from '../contract-vendor.js';

const codec = new EventStreamCodec(toUtf8, fromUtf8);

const STOP_REASONS: Record<ScriptedAnswer['finish'], string> = {
  stop: 'end_turn',
  length: 'max_tokens',
  tool_calls: 'tool_use',
  content_filter: 'content_filtered',
};

const FAILURES: Record<FailureKind, [status: number, type: string, message: string]> = {
  rate_limited: [429, 'ThrottlingException', 'Too many requests, please wait.'],
  overloaded: [503, 'ServiceUnavailableException', 'Bedrock is unable to process your request.'],
  server: [500, 'InternalServerException', 'The system encountered an unexpected error.'],
  bad_request: [400, 'ValidationException', 'The value at messages.0.content is not right.'],
  context_length: [400, 'ValidationException', 'Input is too long for requested model.'],
  bad_key: [403, 'UnrecognizedClientException', 'The security token is invalid.'],
};

export const CREDENTIALS = {
  accessKeyId: 'AKIDEXAMPLE0000000',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
  sessionToken: 'a-session-token-of-no-known-shape',
};

/** One message of the binary event stream, framed like the vendor's events. */
export function eventMessage(type: string, payload: unknown): Buffer {
  return message({ ':message-type': 'event', ':event-type': type }, payload);
}

/** A failure reported within a stream. */
export function exceptionMessage(type: string, payload: unknown): Buffer {
  return message({ ':message-type': 'exception', ':exception-type': type }, payload);
}

/** A message with the given headers. */
export function message(headers: Record<string, string>, payload: unknown): Buffer {
  const all = { ...headers, ':content-type': 'application/json' };
  const typed = Object.entries(all).map(([name, value]) => [name, { type: 'string', value }]);
  const body = Buffer.from(typeof payload === 'string' ? payload : JSON.stringify(payload));
  return Buffer.from(codec.encode({ headers: Object.fromEntries(typed) as never, body }));
}

/** AWS Bedrock's Converse API. */
export const bedrockVendor: ContractVendor = {
  name: 'bedrock',
  upstreamModel: 'us.anthropic.claude-sonnet-4-5-20250929-v1:0',
  provider: {
    adapter: 'bedrock',
    type: 'aws',
    settings: { accessKeyId: CREDENTIALS.accessKeyId, region: 'us-east-1' },
  },

  createAdapter(origin, tools) {
    const { accessKeyId, secretAccessKey, sessionToken } = CREDENTIALS;
    const provider = {
      id: 'bedrock',
      name: 'AWS Bedrock',
      adapter: 'bedrock',
      type: 'aws',
      baseUrl: origin,
      apiKey: secretAccessKey,
      settings: { accessKeyId, sessionToken, region: 'us-east-1' },
    } as const;
    return new BedrockAdapter(provider, tools);
  },

  whole(answer) {
    return json(200, {
      metrics: { latencyMs: 12 },
      output: { message: { role: 'assistant', content: contentOf(answer) } },
      ...(!answer.withoutFinish && { stopReason: STOP_REASONS[answer.finish] }),
      usage: usageOf(answer),
    });
  },

  stream(answer) {
    const pieces = [
      eventMessage('messageStart', { role: 'assistant', p: 'abcd' }),
      ...contentOf(answer).flatMap(blockPieces),
      ...(answer.withoutFinish
        ? []
        : [
            eventMessage('messageStop', { stopReason: STOP_REASONS[answer.finish] }),
            eventMessage('metadata', { usage: usageOf(answer), metrics: { latencyMs: 12 } }),
          ]),
    ];
    return streamed(pieces);
  },

  failure(kind) {
    const [status, type, text] = FAILURES[kind];
    const reply = json(status, { message: text });
    reply.headers['x-amzn-errortype'] =
      `${type}:http://internal.amazon.com/coral/com.amazon.bedrock/`;
    return reply;
  },

  streamFailure(text) {
    return streamed([
      eventMessage('messageStart', { role: 'assistant' }),
      eventMessage('contentBlockDelta', { contentBlockIndex: 0, delta: { text } }),
      exceptionMessage('internalServerException', { message: 'It broke.' }),
    ]);
  },

  readRequest({ path, body }) {
    return readRequest(path, JSON.parse(body.toString('utf8')) as ConverseBody);
  },
};

type Block = Record<string, unknown>;

function contentOf({ reasoning, text, toolCalls = [] }: ScriptedAnswer): Block[] {
  return [
    ...(reasoning ? [{ reasoningContent: { reasoningText: reasoning } }] : []),
    ...(text ? [{ text }] : []),
    ...toolCalls.map(({ id, name, arguments: input }) => ({
      toolUse: { toolUseId: id, name, input: JSON.parse(input) as unknown },
    })),
  ];
}

/** The vendor counts cached tokens separately, and reasoning within the output. */
function usageOf({ usage: { input, output, cacheRead = 0 } }: ScriptedAnswer): object {
  return {
    inputTokens: input - cacheRead,
    outputTokens: output,
    totalTokens: input + output,
    ...(cacheRead > 0 && { cacheReadInputTokens: cacheRead, cacheWriteInputTokens: 0 }),
    serverToolUsage: {},
  };
}

function blockPieces(block: Block, contentBlockIndex: number): Buffer[] {
  const delta = (value: unknown): Buffer =>
    eventMessage('contentBlockDelta', { contentBlockIndex, delta: value });
  const stop = eventMessage('contentBlockStop', { contentBlockIndex });
  if (typeof block.text === 'string') {
    return [...split(block.text).map((text) => delta({ text })), stop];
  }
  if (block.toolUse) {
    const { toolUseId, name, input } = block.toolUse as Record<string, unknown>;
    const start = eventMessage('contentBlockStart', {
      contentBlockIndex,
      start: { toolUse: { toolUseId, name } },
    });
    const pieces = split(JSON.stringify(input)).map((text) => delta({ toolUse: { input: text } }));
    return [start, delta({ toolUse: { input: '' } }), ...pieces, stop];
  }
  const { reasoningText } = block.reasoningContent as { reasoningText: Record<string, string> };
  const { text = '', signature } = reasoningText;
  return [
    ...split(text).map((piece) => delta({ reasoningContent: { text: piece } })),
    ...(signature !== undefined ? [delta({ reasoningContent: { signature } })] : []),
    stop,
  ];
}

/** Splits a text into three, between characters like the vendor. */
function split(text: string): string[] {
  const characters = [...text];
  const size = Math.max(1, Math.ceil(characters.length / 3));
  const pieces: string[] = [];
  for (let start = 0; start < characters.length; start += size) {
    pieces.push(characters.slice(start, start + size).join(''));
  }
  return pieces;
}

function json(status: number, body: unknown): Reply {
  const headers = { 'content-type': 'application/json', 'x-amzn-requestid': 'request-1' };
  return { status, headers, body: Buffer.from(JSON.stringify(body)) };
}

function streamed(pieces: Buffer[]): Reply & { pieces: Buffer[] } {
  const headers = { 'content-type': 'application/vnd.amazon.eventstream' };
  return { status: 200, headers, body: Buffer.concat(pieces), pieces };
}

interface ConverseBody {
  system?: { text?: string }[];
  messages: { role: 'user' | 'assistant'; content: ConverseBlock[] }[];
  inferenceConfig?: { maxTokens?: number; temperature?: number; stopSequences?: string[] };
  toolConfig?: {
    tools: { toolSpec?: { name: string } }[];
    toolChoice?: { auto?: object; any?: object; tool?: { name: string } };
  };
}

interface ConverseBlock {
  text?: string;
  toolUse?: { name: string; input: unknown };
  toolResult?: { content: { text?: string }[] };
}

function readRequest(path: string, body: ConverseBody): ReadRequest {
  const { system = [], messages, inferenceConfig = {}, toolConfig } = body;
  return {
    system: system.map(({ text = '' }) => text).join('\n'),
    turns: messages.map(({ role, content }) => ({
      role,
      text: content.map(({ text = '' }) => text).join(''),
      toolCalls: content.flatMap(({ toolUse }) =>
        toolUse ? [{ name: toolUse.name, arguments: toolUse.input }] : [],
      ),
      toolResults: content.flatMap(({ toolResult }) =>
        toolResult ? [toolResult.content.map(({ text = '' }) => text).join('')] : [],
      ),
    })),
    tools: (toolConfig?.tools ?? []).flatMap(({ toolSpec }) => (toolSpec ? [toolSpec.name] : [])),
    toolChoice: readToolChoice(toolConfig),
    maxOutputTokens: inferenceConfig.maxTokens,
    temperature: inferenceConfig.temperature,
    stop: inferenceConfig.stopSequences ?? [],
    stream: path.endsWith('/converse-stream'),
  };
}

/** A missing choice is `auto`; `none` is expressed by omitting the tools. */
function readToolChoice(config: ConverseBody['toolConfig']): ReadRequest['toolChoice'] {
  if (!config) return undefined;
  if (config.toolChoice?.tool) return { name: config.toolChoice.tool.name };
  return config.toolChoice?.any ? 'required' : 'auto';
}
