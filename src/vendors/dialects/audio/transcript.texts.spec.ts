import { describe, expect, it } from '@jest/globals';
import { renderTranscript, transcriptTexts } from './transcript.js';
const parts = {
  text: 'One falcon. Seven birds.',
  language: 'english',
  durationSeconds: 4,
  segments: [
    { start: 0, end: 2, text: ' One falcon.' },
    { start: 2, end: 4, text: ' Seven birds.' },
  ],
};

describe(transcriptTexts.name, () => {
  it.each(['json', 'verbose_json', 'text', 'srt', 'vtt'])(
    'finds the spoken text in %s',
    (format) => {
      const texts = transcriptTexts(renderTranscript(parts, format), format);
      expect(texts.map((text) => text.trim())).toEqual([parts.text]);
    },
  );

  it('adds segments that differ from the whole text', () => {
    const segments = [...parts.segments, { start: 4, end: 5, text: ' Hidden.' }];
    const transcript = renderTranscript({ ...parts, segments }, 'verbose_json');
    expect(transcriptTexts(transcript, 'verbose_json')).toEqual([parts.text, ' Hidden.']);
  });

  it('finds additional segments in linear time', () => {
    const segments = Array.from({ length: 40_000 }, (_, index) => ({ text: ` Hidden ${index}.` }));
    const text = 'One falcon. '.repeat(100_000);
    const bytes = Buffer.from(JSON.stringify({ text, segments }));
    const startMs = performance.now();
    const texts = transcriptTexts({ contentType: 'application/json', bytes }, 'verbose_json');
    expect(texts).toHaveLength(40_001);
    expect(performance.now() - startMs).toBeLessThan(2_000);
  });

  it('skips cue marks in linear time', () => {
    const line = `B${'-->'.repeat(100_000)}\u2028`;
    const bytes = Buffer.from(`WEBVTT\n\n1\n${line}\nfalcon`);
    const startMs = performance.now();
    expect(transcriptTexts({ contentType: 'text/vtt', bytes }, 'vtt')).toEqual(['falcon']);
    expect(performance.now() - startMs).toBeLessThan(2_000);
  });

  it('inspects all of a JSON transcript without a text', () => {
    const bytes = Buffer.from('{"words":["falcon"]}');
    const texts = transcriptTexts({ contentType: 'application/json', bytes }, 'json');
    expect(texts).toEqual([bytes.toString()]);
  });
});
