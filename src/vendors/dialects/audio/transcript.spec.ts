import { describe, expect, it } from '@jest/globals';
import type { TranscriptionRequest } from '../../../canonical/work-request.js';
import { readTranscript } from './transcript.js';

const read = (answer: unknown, asked = 'json', format = asked) =>
  readTranscript(Buffer.from(JSON.stringify(answer)), asked, { format } as TranscriptionRequest);

describe('readTranscript', () => {
  it('passes an answer in the format that was asked for on byte by byte', () => {
    const answer = { text: 'Hi', extra: [1] };
    expect(JSON.parse(read(answer).transcript.bytes.toString())).toEqual(answer);
  });

  it.each([
    ['whole seconds', { usage: { type: 'duration', seconds: 9 } }, { audioMs: 9_000 }],
    ['a length', { duration: 8.47 }, { audioMs: 8_470 }],
    ['a length in a string', { duration: '8.4701' }, { audioMs: 8_471 }],
    [
      'seconds rather than the length',
      { usage: { seconds: 3 }, duration: 2.5 },
      { audioMs: 3_000 },
    ],
    [
      'tokens',
      { usage: { type: 'tokens', input_tokens: 14, output_tokens: 5 } },
      { inputTokens: 14, outputTokens: 5, audioMs: 0 },
    ],
  ])('reads %s', (_name, fields, usage) => {
    expect(read({ text: 'Hi', ...fields }).usage).toMatchObject(usage);
  });

  it.each([[{}], [{ duration: -1 }], [{ duration: 'long' }], [{ usage: { seconds: null } }]])(
    'takes %j for no figure',
    (fields) => expect(read({ text: 'Hi', ...fields }).usage).toBeUndefined(),
  );

  it.each([[{}], [{ text: 7 }], [[]]])('does not take %j for a transcript', (answer) => {
    expect(() => read(answer)).toThrow(expect.objectContaining({ failure: 'unreadable' }));
  });

  it.each([
    ['srt', '1\n00:00:00,000 --> 00:00:01,000\nHi\n'],
    ['srt', '\n'],
    ['vtt', '\uFEFFWEBVTT\n\n00:00.000 --> 00:01.000\nHi\n'],
    ['vtt', 'WEBVTT\n\n'],
  ])('passes %s on as it is: %j', (format, text) => {
    const bytes = Buffer.from(text);
    const { transcript } = readTranscript(bytes, format, { format } as TranscriptionRequest);
    expect(transcript.bytes).toBe(bytes);
  });

  it.each([
    ['srt', '{"error":{"message":"overloaded","code":429}}'],
    ['srt', '<html>Bad gateway</html>'],
    ['vtt', '{}'],
    ['vtt', ''],
  ])('does not take for %s: %j', (format, text) => {
    expect(() =>
      readTranscript(Buffer.from(text), format, { format } as TranscriptionRequest),
    ).toThrow(expect.objectContaining({ failure: 'unreadable' }));
  });

  it('spells another format than it asked for', () => {
    const { transcript } = read({ text: 'Hi', duration: 1, segments: [7] }, 'verbose_json', 'text');
    expect(transcript.bytes.toString()).toBe('Hi\n');
  });
});
