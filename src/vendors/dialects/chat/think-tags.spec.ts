import { describe, expect, it } from '@jest/globals';
import type { CanonicalEvent } from '../../../canonical/canonical-event.js';
import type { JsonObject } from '../../../platform/http/json-body.js';
import type { EventStreamReader } from '../read-event-stream.js';
import { ChatStreamDecoder } from './chat-stream-decoder.js';
import { ChatStreamRelay } from './chat-stream-relay.js';
import { decodeChatAnswer } from './decode-chat-answer.js';
import { splitThinking, ThinkTagReader } from './think-tags.js';

type Said = { reasoning: string; text: string; finish: string | undefined };

const chunk = (delta: object, finish: string | null = null, index = 0): string =>
  `data: ${JSON.stringify({
    id: 'c1',
    object: 'chat.completion.chunk',
    model: 'm',
    x_own: 'kept',
    choices: [{ index, delta, finish_reason: finish }],
  })}\n\n`;
const streamOf = (pieces: readonly string[]): string =>
  [
    chunk({ role: 'assistant', content: '' }),
    ...pieces.map((content) => chunk({ content })),
    chunk({}, 'stop'),
    'data: [DONE]\n\n',
  ].join('');

function readAll(reader: EventStreamReader, bytes: Buffer, size = bytes.length): CanonicalEvent[] {
  const events: CanonicalEvent[] = [];
  for (let start = 0; start < bytes.length; start += size) {
    events.push(...reader.push(bytes.subarray(start, start + size)));
    if (reader.failure) throw reader.failure;
  }
  return [...events, ...reader.end()];
}

/** Reads the stream for a caller of another dialect. */
function decoded(stream: string, size?: number, choices = 1, choice = 0): Said {
  const reader = new ThinkTagReader(new ChatStreamDecoder(), choices);
  const said: Said = { reasoning: '', text: '', finish: undefined };
  for (const event of readAll(reader, Buffer.from(stream), size)) {
    if (!('choice' in event) || event.choice !== choice) continue;
    if (event.type === 'reasoning') said.reasoning += event.text;
    if (event.type === 'text') said.text += event.text;
    if (event.type === 'finish') said.finish = event.reason;
  }
  return said;
}

/** Reads the stream for a caller of the same dialect. */
function relayed(stream: string, size?: number): { said: Said; frames: JsonObject[] } {
  const relay = new ChatStreamRelay({ alias: 'a/m', includeUsage: false });
  const events = readAll(new ThinkTagReader(relay, 1), Buffer.from(stream), size);
  const bytes = events.flatMap((event) => (event.type === 'relay' ? [event.bytes] : []));
  const frames = Buffer.concat(bytes)
    .toString()
    .split('\n\n')
    .filter((frame) => frame !== '')
    .map((frame) => JSON.parse(frame.slice('data: '.length)) as JsonObject);
  const said: Said = { reasoning: '', text: '', finish: undefined };
  for (const { choices } of frames) {
    const [{ delta, finish_reason }] = choices as [
      { delta: { content?: string; reasoning_content?: string }; finish_reason?: string },
    ];
    said.reasoning += delta.reasoning_content ?? '';
    said.text += delta.content ?? '';
    said.finish = finish_reason ?? said.finish;
  }
  return { said, frames };
}

const CASES: readonly [name: string, text: string, reasoning: string, rest: string][] = [
  ['reasoning and text', '<think>Hm, größe 🙂?</think>\n\nYes.', 'Hm, größe 🙂?', 'Yes.'],
  ['blanks before the tag', '\n <think>Hm.</think>Yes.', 'Hm.', 'Yes.'],
  ['no reasoning', 'Yes, a <b>text</b>.', '', 'Yes, a <b>text</b>.'],
  ['a similar tag', '<thing>Yes.</thing>', '', '<thing>Yes.</thing>'],
  ['tags in the middle of a text', 'No. <think>Hm.</think>', '', 'No. <think>Hm.</think>'],
  ['another tag in the reasoning', '<think>a </thin b </b></think>c', 'a </thin b </b>', 'c'],
  ['a second pair', '<think>a</think>b <think>c</think>', 'a', 'b <think>c</think>'],
  ['blank reasoning', '<think>\n\n</think>\n\nYes.', '\n\n', 'Yes.'],
  ['unterminated reasoning', '<think>Hm </thi', 'Hm </thi', ''],
  ['half a tag only', '<thin', '', '<thin'],
  ['reasoning only', '<think>Hm.</think>', 'Hm.', ''],
];

describe('reasoning between tags', () => {
  it.each(CASES)('%s: split anywhere', (_name, text, reasoning, rest) => {
    const expected = { reasoning, text: rest, finish: 'stop' };
    const points = [...text];
    for (let at = 0; at <= points.length; at++) {
      const stream = streamOf([points.slice(0, at).join(''), points.slice(at).join('')]);
      expect(decoded(stream)).toEqual(expected);
      expect(relayed(stream).said).toEqual(expected);
    }
    const single = streamOf(points);
    for (const size of [1, 7, 100]) {
      expect(decoded(single, size)).toEqual(expected);
      expect(relayed(single, size).said).toEqual(expected);
    }
  });

  it.each(CASES)('%s: whole', (_name, content, reasoning, rest) => {
    const message = { role: 'assistant', content };
    const answer = { id: 'c1', x_own: 'kept', choices: [{ message, finish_reason: 'stop' }] };
    const split = splitThinking(Buffer.from(JSON.stringify(answer)));
    const events = decodeChatAnswer(split);
    const textOf = (type: string) =>
      events.map((event) => (event.type === type && 'text' in event ? event.text : '')).join('');
    expect([textOf('reasoning'), textOf('text')]).toEqual([reasoning, rest]);
    expect(JSON.parse(split.toString())).toMatchObject({ x_own: 'kept' });
  });

  it('leaves the bytes of answers without tags unchanged', () => {
    const bytes = Buffer.from('{"choices":[{"message":{"content":"Hi"}}], "n": 1.0}');
    expect(splitThinking(bytes)).toBe(bytes);
    const broken = Buffer.from('<think>');
    expect(splitThinking(broken)).toBe(broken);
  });

  it("keeps the vendor's other fields", () => {
    const { frames } = relayed(streamOf(['<think>a', 'b</think>', 'c', 'd']));
    expect(frames).toHaveLength(6);
    for (const frame of frames) expect(frame).toMatchObject({ model: 'a/m', x_own: 'kept' });
  });

  it('handles several choices separately', () => {
    const stream = [
      chunk({ content: '<think>one' }, null, 0),
      chunk({ content: 'plain ' }, null, 1),
      chunk({ content: '</think>first' }, null, 0),
      chunk({ content: '<think>text' }, null, 1),
      chunk({}, 'stop', 0),
      chunk({}, 'stop', 1),
      'data: [DONE]\n\n',
    ].join('');
    expect(decoded(stream, 9, 2, 0)).toMatchObject({ reasoning: 'one', text: 'first' });
    expect(decoded(stream, 9, 2, 1)).toMatchObject({ reasoning: '', text: 'plain <think>text' });
  });

  it('leaves servers alone that extract their reasoning themselves', () => {
    const stream = [
      chunk({ reasoning_content: 'Hm.', content: null }),
      chunk({ content: '<think> is a tag' }),
      chunk({}, 'stop'),
      'data: [DONE]\n\n',
    ].join('');
    expect(decoded(stream)).toMatchObject({ reasoning: 'Hm.', text: '<think> is a tag' });
  });

  it('releases buffered text before a tool call', () => {
    const call = { index: 0, id: 't', type: 'function', function: { name: 'f', arguments: '{}' } };
    const stream = [
      chunk({ content: '<think>I call' }),
      chunk({ content: ' f</' }),
      chunk({ tool_calls: [call] }, 'tool_calls'),
      'data: [DONE]\n\n',
    ].join('');
    expect(decoded(stream)).toEqual({ reasoning: 'I call f</', text: '', finish: 'tool_calls' });
  });

  it('fails when the stream is cut or unreadable', () => {
    const cut = chunk({ content: '<think>Hm' });
    expect(() => decoded(cut)).toThrow(expect.objectContaining({ failure: 'cut' }));
    const broken = `${chunk({ content: '<think>' })}data: {"choices\n\n`;
    expect(() => decoded(broken)).toThrow(expect.objectContaining({ failure: 'unreadable' }));
  });
});
