import { readAvailable } from './streamed-answer.js';

export type CallerDialect = 'chat' | 'messages' | 'responses';

/** The result of a request in any dialect, as its own client would judge it. */
export interface ReadAnswer {
  /** `silent`: neither complete nor an error. */
  ending: 'whole' | 'error' | 'silent';
  text: string;
  model: string | undefined;
  hasUsage: boolean;
  status: number;
  requestId: string;
  /** The error's type. */
  error: string | undefined;
}

/** Returns the path and body of one question in any dialect. */
export function questionIn(dialect: CallerDialect, fields: object): [path: string, body: object] {
  const turns = [{ role: 'user', content: 'Go.' }];
  switch (dialect) {
    case 'chat':
      return ['/v1/chat/completions', { messages: turns, ...fields }];
    case 'messages':
      return ['/v1/messages', { messages: turns, max_tokens: 500, ...fields }];
    case 'responses':
      return ['/v1/responses', { input: 'Go.', store: false, ...fields }];
  }
}

interface Frame {
  type?: string;
  model?: string;
  error?: { type?: string };
  usage?: unknown;
  choices?: {
    delta?: { content?: string };
    message?: { content?: string };
    finish_reason?: string | null;
  }[];
  delta?: string | { text?: string };
  content?: { text?: string }[];
  message?: { model?: string };
  response?: Frame;
  output?: { content?: { text?: string }[] }[];
}

/** Reads an answer to its end, streamed or whole. */
export async function readDialect(dialect: CallerDialect, response: Response): Promise<ReadAnswer> {
  const { body, isCut } = await readAvailable(response);
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true;
  const data = isStream
    ? [...body.matchAll(/^data: (\{.*)$/gm)].map(([, json]) => JSON.parse(json!) as Frame)
    : [JSON.parse(body) as Frame];
  const last = data.at(-1);
  const error = data.map((frame) => frame.error ?? frame.response?.error).find((found) => found);
  const isOver = isStream ? !isCut && hasEnd(dialect, body) : response.status === 200;
  return {
    ending: error ? 'error' : isOver ? 'whole' : 'silent',
    text: data.map((frame) => textOf(frame, isStream)).join(''),
    model: data
      .map((frame) => (frame.response ?? frame.message ?? frame).model)
      .find((name) => name),
    hasUsage:
      data.some((frame) => frame.usage ?? frame.response?.usage) || last?.usage !== undefined,
    status: response.status,
    requestId: response.headers.get('x-request-id')!,
    error: error?.type,
  };
}

function hasEnd(dialect: CallerDialect, body: string): boolean {
  switch (dialect) {
    case 'chat':
      return /"finish_reason":"stop"/.test(body) && /data: \[DONE\]\s*$/.test(body);
    case 'messages':
      return /"stop_reason":"end_turn"/.test(body) && body.includes('"type":"message_stop"');
    case 'responses':
      return body.includes('"type":"response.completed"');
  }
}

function textOf({ type, choices, delta, content, output }: Frame, isStream: boolean): string {
  if (choices) return choices.map((one) => (one.delta ?? one.message)?.content ?? '').join('');
  if (!isStream) {
    const parts = content ?? output?.flatMap((item) => item.content ?? []) ?? [];
    return parts.map(({ text }) => text ?? '').join('');
  }
  if (type === 'response.output_text.delta' && typeof delta === 'string') return delta;
  return type === 'content_block_delta' && typeof delta === 'object' ? (delta.text ?? '') : '';
}
