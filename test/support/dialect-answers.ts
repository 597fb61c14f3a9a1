import { expect } from '@jest/globals';

type Json = Record<string, unknown>;

/** An answer in any dialect as its caller reads it. */
export interface ReadAnswer {
  id: string;
  text: string;
  calls: { name: unknown; arguments: unknown }[];
  finish: unknown;
  usage: unknown;
}

/** Reads a chat completion, a message or a response, whole or streamed. */
export async function readAnswer(path: string, response: Response): Promise<ReadAnswer> {
  const body = await response.text();
  expect([response.status, body]).toEqual([200, expect.any(String)]);
  const isStream = response.headers.get('content-type')!.startsWith('text/event-stream');
  const events = isStream ? dataOf(body) : [JSON.parse(body) as Json];
  if (path.endsWith('/completions')) return isStream ? chatStream(events) : chat(events[0]!);
  if (path.endsWith('/messages')) return isStream ? messageStream(events) : message(events[0]!);
  const last = events.at(-1)!;
  return responseOf(isStream ? (last.response as Json) : last);
}

function dataOf(body: string): Json[] {
  const lines = body.split('\n').filter((line) => line.startsWith('data: {'));
  return lines.map((line) => JSON.parse(line.slice('data: '.length)) as Json);
}

interface ChatDelta {
  content?: string | null;
  tool_calls?: ChatCall[];
}

interface ChatCall {
  index?: number;
  function: { name?: string; arguments?: string };
}

function chat(body: Json): ReadAnswer {
  const [choice] = body.choices as [{ message: Json; finish_reason: unknown }];
  const calls = (choice.message.tool_calls ?? []) as ChatCall[];
  return {
    id: body.id as string,
    text: (choice.message.content as string | null) ?? '',
    calls: calls.map(({ function: { name, arguments: args } }) => ({
      name,
      arguments: parse(args!),
    })),
    finish: choice.finish_reason,
    usage: body.usage,
  };
}

function chatStream(chunks: Json[]): ReadAnswer {
  const choices = chunks.flatMap(
    (chunk) => chunk.choices as { delta: ChatDelta; finish_reason: unknown }[],
  );
  const calls: { name: string; arguments: string }[] = [];
  for (const { delta } of choices) {
    for (const { index, function: piece } of delta.tool_calls ?? []) {
      const call = (calls[index!] ??= { name: piece.name!, arguments: '' });
      call.arguments += piece.arguments ?? '';
    }
  }
  return {
    id: chunks[0]!.id as string,
    text: choices.map(({ delta }) => delta.content ?? '').join(''),
    calls: calls.map(({ name, arguments: args }) => ({ name, arguments: parse(args) })),
    finish: choices.at(-1)!.finish_reason,
    usage: chunks.at(-1)!.usage,
  };
}

interface Block {
  type: string;
  text?: string;
  name?: string;
  input?: unknown;
}

function message(body: Json): ReadAnswer {
  const blocks = body.content as Block[];
  return {
    id: body.id as string,
    text: blocks.map(({ text }) => text ?? '').join(''),
    calls: blocks
      .filter(({ type }) => type === 'tool_use')
      .map(({ name, input }) => ({ name, arguments: input })),
    finish: body.stop_reason,
    usage: body.usage,
  };
}

function messageStream(events: Json[]): ReadAnswer {
  const blocks: (Block & { json: string })[] = [];
  for (const { type, index, content_block: block, delta } of events) {
    if (type === 'content_block_start') blocks[index as number] = { ...(block as Block), json: '' };
    if (type !== 'content_block_delta') continue;
    const { text = '', partial_json: json = '' } = delta as Record<string, string>;
    const open = blocks[index as number]!;
    open.text = (open.text ?? '') + text;
    open.json += json;
  }
  const end = events.find(({ type }) => type === 'message_delta')!;
  const content = blocks.map((block) =>
    block.type === 'tool_use' ? { ...block, text: '', input: parse(block.json) } : block,
  );
  const { id } = events[0]!.message as { id: string };
  const { stop_reason } = end.delta as Json;
  return message({ id, content, stop_reason, usage: end.usage });
}

function parse(json: string): unknown {
  return JSON.parse(json);
}

interface ResponseItem {
  type: string;
  name?: string;
  arguments?: string;
  content?: { text: string }[];
}

function responseOf(body: Json): ReadAnswer {
  const items = body.output as ResponseItem[];
  return {
    id: body.id as string,
    text: items.flatMap(({ content = [] }) => content.map(({ text }) => text)).join(''),
    calls: items
      .filter(({ type }) => type === 'function_call')
      .map(({ name, arguments: args }) => ({ name, arguments: parse(args!) })),
    finish: body.status,
    usage: body.usage,
  };
}
