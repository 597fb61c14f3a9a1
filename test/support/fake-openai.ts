import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';

/** A call that the fake received. */
export interface RecordedCall {
  method: string;
  path: string;
  headers: http.IncomingHttpHeaders;
  body: Record<string, unknown>;
  rawBody: string;
  /** Resolves when the caller's connection closed before the answer was complete. */
  hungUp: Promise<void>;
}

/** The fake's answer; a function gets the call and the raw response. */
export type FakeAnswer = (
  call: RecordedCall,
  response: http.ServerResponse,
) => void | Promise<void>;

export interface FakeOpenAi {
  /** Base URL ending in `/v1`, as `OPENAI_BASE_URL` takes it. */
  baseUrl: string;
  calls: RecordedCall[];
  /** Number of open sockets. */
  openSockets(): number;
  /** The current answer; assign to replace it. */
  answer: FakeAnswer;
  close(): Promise<void>;
}

/** Starts a server with OpenAI's wire format on a free loopback port; it answers politely by default. */
export async function startFakeOpenAi(answer: FakeAnswer = politeAnswer()): Promise<FakeOpenAi> {
  const calls: RecordedCall[] = [];
  let sockets = 0;
  const server = http.createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const rawBody = Buffer.concat(chunks).toString('utf8');
      const call: RecordedCall = {
        method: request.method ?? '',
        path: request.url ?? '',
        headers: request.headers,
        body: JSON.parse(rawBody || '{}') as Record<string, unknown>,
        rawBody,
        hungUp: new Promise((resolve) =>
          response.once('close', () => {
            if (!response.writableFinished) resolve();
          }),
        ),
      };
      calls.push(call);
      Promise.resolve(fake.answer(call, response)).catch(() => response.destroy());
    });
  });
  server.on('connection', (socket) => {
    sockets++;
    socket.once('close', () => sockets--);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const fake: FakeOpenAi = {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    calls,
    openSockets: () => sockets,
    answer,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return fake;
}

export interface PoliteOptions {
  text?: string;
  promptTokens?: number;
  completionTokens?: number;
  /** Fields merged over the message, such as tool calls. */
  message?: Record<string, unknown>;
  finishReason?: string;
  usage?: Record<string, unknown> | null;
  /** The service tier that the answer reports. */
  tier?: string;
  chunkDelayMs?: number;
}

/**
 * Continues a text where the request's last assistant turn stops, like a faithful vendor, or sends all
 * of it.
 */
export function continuingAnswer(text: string, options: PoliteOptions = {}): FakeAnswer {
  return (call, response) => {
    const turns = call.body.messages as { role: string; content: string }[];
    const prefill = turns.findLast(({ role }) => role === 'assistant')?.content ?? '';
    const rest = text.startsWith(prefill) ? text.slice(prefill.length) : text;
    return politeAnswer({ ...options, text: rest })(call, response);
  };
}

/** Sends a text and closes the connection without a finish reason. */
export function brokenAnswer(text: string): FakeAnswer {
  return async (_call, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const content of text.match(/.{1,7}/gsu) ?? []) {
      const choices = [{ index: 0, delta: { content }, finish_reason: null }];
      const chunk = { id: 'x', object: 'chat.completion.chunk', created: 1, model: 'm', choices };
      response.write(`data: ${JSON.stringify(chunk)}\n\n`);
    }
    await wait(5);
    response.destroy();
  };
}

/** A complete answer in the vendor's own bytes, whole or streamed as requested. */
export function politeAnswer(options: PoliteOptions = {}): FakeAnswer {
  return async (call, response) => {
    if (call.body.stream === true) await streamAnswer(call, response, options);
    else sendCompletion(call, response, options);
  };
}

export function usageOf(options: PoliteOptions): Record<string, unknown> | null {
  if (options.usage !== undefined) return options.usage;
  const prompt = options.promptTokens ?? 10;
  const completion = options.completionTokens ?? 5;
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
    completion_tokens_details: { reasoning_tokens: 0, audio_tokens: 0 },
  };
}

function sendCompletion(
  { body }: RecordedCall,
  response: http.ServerResponse,
  options: PoliteOptions,
): void {
  const usage = usageOf(options);
  sendJson(response, 200, {
    id: 'chatcmpl-fake',
    object: 'chat.completion',
    created: 1_700_000_000,
    model: `${String(body.model)}-2024-07-18`,
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: options.text ?? 'Hello from the fake.',
          refusal: null,
          ...options.message,
        },
        logprobs: null,
        finish_reason: options.finishReason ?? 'stop',
      },
    ],
    ...(usage && { usage }),
    ...(options.tier !== undefined && { service_tier: options.tier }),
    system_fingerprint: 'fp_fake',
  });
}

async function streamAnswer(
  { body }: RecordedCall,
  response: http.ServerResponse,
  options: PoliteOptions,
): Promise<void> {
  const wantsUsage = (body.stream_options as { include_usage?: boolean } | undefined)
    ?.include_usage;
  const chunk = (rest: object): string =>
    `data: ${JSON.stringify({
      id: 'chatcmpl-fake',
      object: 'chat.completion.chunk',
      created: 1_700_000_000,
      model: `${String(body.model)}-2024-07-18`,
      ...(options.tier !== undefined && { service_tier: options.tier }),
      system_fingerprint: 'fp_fake',
      ...rest,
      ...(wantsUsage && !('usage' in rest) && { usage: null }),
    })}\n\n`;
  const delta = (content: object, finish: string | null = null): string =>
    chunk({ choices: [{ index: 0, delta: content, logprobs: null, finish_reason: finish }] });

  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.write(delta({ role: 'assistant', content: '', refusal: null }));
  const { message } = options;
  if (message?.tool_calls) response.write(delta({ tool_calls: message.tool_calls }));
  for (const piece of (options.text ?? 'Hello from the fake.').match(/\S+\s*|\s+/g) ?? []) {
    if (options.chunkDelayMs !== undefined) await wait(options.chunkDelayMs);
    if (response.destroyed) return;
    response.write(delta({ content: piece }));
  }
  response.write(delta({}, options.finishReason ?? 'stop'));
  const usage = usageOf(options);
  if (wantsUsage && usage) response.write(chunk({ choices: [], usage }));
  response.end('data: [DONE]\n\n');
}

export function sendJson(response: http.ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}

/** An error in OpenAI's shape. */
export function errorAnswer(
  status: number,
  error: Record<string, unknown> = { message: 'It broke.', type: 'server_error', code: null },
  headers: Record<string, string> = {},
): FakeAnswer {
  return (_call, response) => {
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
    sendJson(response, status, { error });
  };
}

export const resetAnswer: FakeAnswer = (_call, response) => {
  response.destroy();
};

/** Never answers and keeps the connection open until the caller closes it. */
export const hangAnswer: FakeAnswer = () => undefined;

/** Never answers, but sends keep-alives, so that no timeout ends the call. */
export const silentAnswer: FakeAnswer = ({ body }, response) => {
  const isStream = body.stream === true;
  response.writeHead(200, {
    'content-type': isStream ? 'text/event-stream' : 'application/json',
  });
  const beat = setInterval(() => response.write(isStream ? ': ping\n\n' : ' '), 50);
  response.once('close', () => clearInterval(beat));
};

/** Starts a stream without content and cuts it. */
export const cutBeforeContentAnswer: FakeAnswer = async (_call, response) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.write(
    'data: {"id":"x","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}\n\n',
  );
  await wait(20);
  response.destroy();
};
