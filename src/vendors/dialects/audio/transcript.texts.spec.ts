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
  it.each(['json', 'verbose_json', 'text', 'srt', 'vtt'])('finds what is said in %s', (format) => {
    const texts = transcriptTexts(renderTranscript(parts, format), format);
    expect(texts.map((text) => text.trim())).toEqual([parts.text]);
  });

  it('adds segments that say something else than the whole', () => {
    const segments = [...parts.segments, { start: 4, end: 5, text: ' Hidden.' }];
    const transcript = renderTranscript({ ...parts, segments }, 'verbose_json');
    expect(transcriptTexts(transcript, 'verbose_json')).toEqual([parts.text, ' Hidden.']);
  });

  it('looks at all of a JSON transcript without a text', () => {
    const bytes = Buffer.from('{"words":["falcon"]}');
    const texts = transcriptTexts({ contentType: 'application/json', bytes }, 'json');
    expect(texts).toEqual([bytes.toString()]);
  });
});
