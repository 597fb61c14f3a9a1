import { describe, expect, it } from '@jest/globals';
import { renderTranscript, type TranscriptParts } from './transcript.js';

const parts: TranscriptParts = {
  text: 'Good day. And good night.',
  language: 'en',
  durationSeconds: 3_725.5,
  segments: [
    { start: 0, end: 1.2345, text: ' Good day.\n\nReally --> so.' },
    { start: 3_723.004, end: 3_725.5, text: 'And good night.' },
  ],
};
const spell = (format: string, given = parts): string =>
  renderTranscript(given, format).bytes.toString();

describe('renderTranscript', () => {
  it('writes subtitles with times past the hour, and no text that would end a cue', () => {
    expect(spell('srt')).toBe(
      '1\n00:00:00,000 --> 00:00:01,235\nGood day.\nReally -> so.\n\n' +
        '2\n01:02:03,004 --> 01:02:05,500\nAnd good night.\n\n',
    );
    expect(spell('vtt')).toBe(
      'WEBVTT\n\n00:00:00.000 --> 00:00:01.235\nGood day.\nReally -> so.\n\n' +
        '01:02:03.004 --> 01:02:05.500\nAnd good night.\n\n',
    );
  });

  it('writes one cue over the whole length where there are no segments', () => {
    const whole = { ...parts, segments: [], durationSeconds: 2, text: 'All.' };
    expect(spell('srt', whole)).toBe('1\n00:00:00,000 --> 00:00:02,000\nAll.\n\n');
    expect(spell('vtt', { ...whole, text: '' })).toBe('WEBVTT\n\n');
  });

  it('writes the other formats', () => {
    expect(spell('text')).toBe('Good day. And good night.\n');
    expect(JSON.parse(spell('json'))).toEqual({
      text: parts.text,
      usage: { type: 'duration', seconds: 3_725.5 },
    });
    expect(JSON.parse(spell('verbose_json'))).toMatchObject({
      task: 'transcribe',
      language: 'en',
      duration: 3_725.5,
      segments: [{ id: 0, start: 0 }, { id: 1 }],
    });
    expect(renderTranscript(parts, 'srt').contentType).toBe('text/plain; charset=utf-8');
    expect(renderTranscript(parts, 'json').contentType).toContain('application/json');
  });
});
