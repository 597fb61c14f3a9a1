import { describe, expect, it } from '@jest/globals';
import { EventStreamCodec } from '@smithy/eventstream-codec';
import { fromUtf8, toUtf8 } from '@smithy/util-utf8';
import { eventMessage } from '../../../../test/contract/vendors/bedrock.vendor.js';
import { EventStreamError, EventStreamFrames, textHeader } from './converse-stream-decoder.js';

const MAX_BYTES = 10_000;
const first = eventMessage('messageStart', { role: 'assistant' });
const second = eventMessage('contentBlockDelta', { delta: { text: 'Grüße, 🌍' } });
const both = Buffer.concat([first, second]);

/** Returns the types and bodies of the messages in chunks. */
function read(...chunks: Buffer[]): [string | undefined, unknown][] {
  const frames = new EventStreamFrames(MAX_BYTES);
  return chunks.flatMap((chunk) =>
    [...frames.push(chunk)].map((message): [string | undefined, unknown] => [
      textHeader(message, ':event-type'),
      JSON.parse(message.body.toString()),
    ]),
  );
}

const expected = [
  ['messageStart', { role: 'assistant' }],
  ['contentBlockDelta', { delta: { text: 'Grüße, 🌍' } }],
];

describe(EventStreamFrames.name, () => {
  it('reads several messages in one chunk', () => {
    expect(read(both)).toEqual(expected);
  });

  it('reads messages at any split', () => {
    for (let at = 0; at <= both.length; at++) {
      expect(read(both.subarray(0, at), both.subarray(at))).toEqual(expected);
    }
  });

  it('reads messages byte by byte', () => {
    expect(read(...Array.from(both, (byte) => Buffer.from([byte])))).toEqual(expected);
  });

  it('reads only string headers', () => {
    const headers = {
      ':exception-type': { type: 'string', value: 'x' },
      ':number': { type: 'integer', value: 7 },
    } as const;
    const bytes = new EventStreamCodec(toUtf8, fromUtf8).encode({
      headers,
      body: Buffer.from('{}'),
    });
    const [read] = [...new EventStreamFrames(MAX_BYTES).push(Buffer.from(bytes))];
    const names = [':exception-type', ':number', ':absent'];
    expect(names.map((name) => textHeader(read!, name))).toEqual(['x', undefined, undefined]);
  });

  it('yields complete messages before it fails', () => {
    const damaged = Buffer.from(second);
    damaged[damaged.length - 1]! ^= 1;
    const messages = new EventStreamFrames(MAX_BYTES).push(Buffer.concat([first, damaged]));
    expect(messages.next().value).toMatchObject({
      headers: { ':event-type': { value: 'messageStart' } },
    });
    expect(() => messages.next()).toThrow(EventStreamError);
  });

  it('detects any damaged byte', () => {
    for (let at = 0; at < second.length; at++) {
      const damaged = Buffer.from(second);
      damaged[at]! ^= 0x40;
      expect(() => read(damaged, first)).toThrow(EventStreamError);
    }
  });

  it('fails at once for a wrong length, without waiting for more bytes', () => {
    const damaged = Buffer.from(first);
    damaged[0] = 0x7f;
    expect(() => read(damaged.subarray(0, 12))).toThrow(/checksum/);
  });

  it('rejects a message beyond the limit by its first bytes', () => {
    const huge = eventMessage('contentBlockDelta', { delta: { text: 'x'.repeat(MAX_BYTES) } });
    expect(() => read(huge.subarray(0, 12))).toThrow(`more than ${MAX_BYTES} bytes`);
  });

  it.each(['', 'HTTP/1.1 400 Bad Request\r\n\r\n', '{"message":"no stream at all"}'])(
    'yields nothing for %j',
    (text) => {
      if (text === '') expect(read(Buffer.from(text))).toEqual([]);
      else expect(() => read(Buffer.from(text))).toThrow(EventStreamError);
    },
  );
});
