import { describe, expect, it } from '@jest/globals';
import { SeededRandom } from '../../../test/support/seeded-random.js';
import { SseFrameBuffer } from './sse-frame-buffer.js';

const STREAMS: [string, string][] = [
  ['line feeds', 'data: a\n\nevent: x\ndata: b\n\n: comment\n\ndata: c\n\n'],
  [
    'carriage returns too',
    'data: a\r\n\r\nevent: x\r\ndata: b\r\n\r\n: comment\r\n\r\ndata: c\r\n\r\n',
  ],
  ['both mixed', 'data: a\n\r\ndata: b\r\n\ndata: c\n\ndata: d\r\n\r\n'],
  ['blank lines in a row', '\n\ndata: a\n\n\n\n\ndata: b\r\n\r\n\r\n\r\ndata: c\n\n'],
  ['text beyond ASCII', 'data: größe 日本 🙂\n\ndata: 🙂\r\n\r\n'],
];

/** Pushes the pieces and returns the frames as text, and the rest. */
function feed(
  pieces: readonly Buffer[],
  maxFrameBytes = 1_000,
): { frames: string[]; rest: string } {
  const buffer = new SseFrameBuffer(maxFrameBytes);
  const frames = pieces.flatMap((piece) => buffer.push(piece) ?? []);
  return {
    frames: frames.map((frame) => frame.toString()).filter((frame) => frame !== ''),
    rest: buffer.rest().toString(),
  };
}

describe(SseFrameBuffer.name, () => {
  it('returns whole events only and keeps the rest', () => {
    const { frames, rest } = feed([Buffer.from('data: a\n\ndata: b\n\ndata: half')]);
    expect(frames).toEqual(['data: a\n\ndata: b\n\n']);
    expect(rest).toBe('data: half');
  });

  it.each(STREAMS)('returns all of a stream with %s, split in two anywhere', (_, stream) => {
    const bytes = Buffer.from(stream);
    for (let offset = 0; offset <= bytes.length; offset++) {
      const { frames, rest } = feed([bytes.subarray(0, offset), bytes.subarray(offset)]);
      expect(frames.join('')).toBe(stream);
      expect(rest).toBe('');
    }
  });

  it.each(STREAMS)(
    'returns each event of a stream with %s as soon as it ends, byte by byte',
    (_, stream) => {
      const buffer = new SseFrameBuffer(1_000);
      let sent = '';
      let received = '';
      for (const byte of Buffer.from(stream)) {
        sent += String.fromCharCode(byte);
        received += buffer.push(Buffer.of(byte))?.toString('latin1') ?? '';
        const endsEvent = /[^\r\n]\r?\n\r?\n$/.test(sent);
        if (endsEvent) expect(received).toBe(sent);
      }
      expect(Buffer.from(received, 'latin1').toString()).toBe(stream);
      expect(buffer.rest()).toHaveLength(0);
    },
  );

  it('neither loses nor repeats bytes, however the stream is split', () => {
    const random = new SeededRandom(7);
    const alphabet = ['\n', '\n', '\r\n', 'data: x', ': c', '日'];
    for (let round = 0; round < 500; round++) {
      const stream = Array.from({ length: 30 }, () => random.pick(alphabet)).join('');
      const bytes = Buffer.from(stream);
      const pieces: Buffer[] = [];
      for (let start = 0; start < bytes.length;) {
        const end = start + random.below(6);
        pieces.push(bytes.subarray(start, end));
        start = end;
      }
      const { frames, rest } = feed(pieces);
      expect(frames.join('') + rest).toBe(stream);
      for (const frame of frames) expect(frame).toMatch(/\n\r?\n$/);
      expect(rest.replace(/^\n+/, '')).not.toMatch(/\n\r?\n/);
    }
  });

  it('returns a chunk that ends with a blank line uncopied', () => {
    const chunk = Buffer.from('data: a\n\n');
    expect(new SseFrameBuffer(10).push(chunk)).toBe(chunk);
  });

  it('accepts an event of 10 MB in small pieces', () => {
    const stream = Buffer.concat([Buffer.alloc(10_000_000, 'x'), Buffer.from('\n\n')]);
    const pieces: Buffer[] = [];
    for (let start = 0; start < stream.length; start += 512) {
      pieces.push(stream.subarray(start, start + 512));
    }
    const startedMs = performance.now();
    expect(feed(pieces, 16_000_000).frames[0]).toHaveLength(stream.length);
    expect(performance.now() - startedMs).toBeLessThan(5_000);
  });

  it('throws a RangeError for an event over the limit', () => {
    const buffer = new SseFrameBuffer(10);
    buffer.push(Buffer.from('data: 4567'));
    expect(() => buffer.push(Buffer.from('8'))).toThrow(RangeError);
  });
});
