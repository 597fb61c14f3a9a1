import { describe, expect, it } from '@jest/globals';
import type { TranscriptionRequest } from '../../../canonical/work-request.js';
import { readTranscript, renderTranscript } from './transcript.js';
import type { TranscriptParts } from './transcript.js';

const read = (answer: unknown, vendorFormat = 'json', format = vendorFormat) =>
  readTranscript(Buffer.from(JSON.stringify(answer)), vendorFormat, {
    format,
  } as TranscriptionRequest);

describe('readTranscript', () => {
  it('passes on an answer in the requested format byte for byte', () => {
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
    'ignores the figure %j',
    (fields) => expect(read({ text: 'Hi', ...fields }).usage).toBeUndefined(),
  );

  it.each([[{}], [{ text: 7 }], [[]]])('rejects %j', (answer) => {
    expect(() => read(answer)).toThrow(expect.objectContaining({ failure: 'unreadable' }));
  });

  it.each([
    ['srt', '1\n00:00:00,000 --> 00:00:01,000\nHi\n'],
    ['srt', '\n'],
    ['vtt', '\uFEFFWEBVTT\n\n00:00.000 --> 00:01.000\nHi\n'],
    ['vtt', 'WEBVTT\n\n'],
  ])('passes on %s unchanged: %j', (format, text) => {
    const bytes = Buffer.from(text);
    const { transcript } = readTranscript(bytes, format, { format } as TranscriptionRequest);
    expect(transcript.bytes).toBe(bytes);
  });

  it.each([
    ['srt', '{"error":{"message":"overloaded","code":429}}'],
    ['srt', '<html>Bad gateway</html>'],
    ['vtt', '{}'],
    ['vtt', ''],
  ])('rejects as %s: %j', (format, text) => {
    expect(() =>
      readTranscript(Buffer.from(text), format, { format } as TranscriptionRequest),
    ).toThrow(expect.objectContaining({ failure: 'unreadable' }));
  });

  it('converts to another format than requested', () => {
    const { transcript } = read({ text: 'Hi', duration: 1, segments: [7] }, 'verbose_json', 'text');
    expect(transcript.bytes.toString()).toBe('Hi\n');
  });
});

const parts: TranscriptParts = {
  text: 'Good day. And good night.',
  language: 'en',
  durationSeconds: 3_725.5,
  segments: [
    { start: 0, end: 1.2345, text: ' Good day.\n\nReally --> so.' },
    { start: 3_723.004, end: 3_725.5, text: 'And good night.' },
  ],
};

const render = (format: string, given = parts): string =>
  renderTranscript(given, format).bytes.toString();

describe('renderTranscript', () => {
  it('writes subtitles with times past the hour, and no text that would end a cue', () => {
    expect(render('srt')).toBe(
      '1\n00:00:00,000 --> 00:00:01,235\nGood day.\nReally -> so.\n\n' +
        '2\n01:02:03,004 --> 01:02:05,500\nAnd good night.\n\n',
    );
    expect(render('vtt')).toBe(
      'WEBVTT\n\n00:00:00.000 --> 00:00:01.235\nGood day.\nReally -> so.\n\n' +
        '01:02:03.004 --> 01:02:05.500\nAnd good night.\n\n',
    );
  });

  it('writes a cue in linear time', () => {
    const text = `a${' '.repeat(100_000)}b \r\n \n c`;
    const startMs = performance.now();
    expect(render('srt', { ...parts, segments: [{ start: 0, end: 1, text }] })).toContain(
      'b\nc\n\n',
    );
    expect(performance.now() - startMs).toBeLessThan(1_000);
  });

  it('writes one cue for the whole duration without segments', () => {
    const whole = { ...parts, segments: [], durationSeconds: 2, text: 'All.' };
    expect(render('srt', whole)).toBe('1\n00:00:00,000 --> 00:00:02,000\nAll.\n\n');
    expect(render('vtt', { ...whole, text: '' })).toBe('WEBVTT\n\n');
  });

  it('writes the other formats', () => {
    expect(render('text')).toBe('Good day. And good night.\n');
    expect(JSON.parse(render('json'))).toEqual({
      text: parts.text,
      usage: { type: 'duration', seconds: 3_725.5 },
    });
    expect(JSON.parse(render('verbose_json'))).toMatchObject({
      task: 'transcribe',
      language: 'en',
      duration: 3_725.5,
      segments: [{ id: 0, start: 0 }, { id: 1 }],
    });
    expect(renderTranscript(parts, 'srt').contentType).toBe('text/plain; charset=utf-8');
    expect(renderTranscript(parts, 'json').contentType).toContain('application/json');
  });
});
