import { describe, expect, it } from '@jest/globals';
import { parseJsonBody } from '../../platform/http/json-body.js';
import { parseSpeech } from './speech.parse.js';

const parse = (fields: object) =>
  parseSpeech(
    parseJsonBody(
      Buffer.from(JSON.stringify({ model: 'a/b', input: 'Hi', voice: 'alloy', ...fields })),
    ),
  );

describe('parseSpeech', () => {
  it.each([
    ['abc', 3, 3],
    ['naïve', 5, 6],
    ['你好', 2, 6],
    ['👋🏽', 2, 8],
    ['\ud800', 1, 3],
  ])('counts %j as %d characters and %d bytes', (input, inputCharacters, inputBytes) => {
    const { ceiling, estimate } = parse({ input });
    expect(ceiling).toMatchObject({ inputCharacters, inputBytes });
    expect(estimate).toMatchObject({ inputCharacters, inputBytes });
  });

  it('reserves more time than it expects, and more for slow speech', () => {
    const { ceiling, estimate } = parse({ input: 'Hello there' });
    expect(ceiling.audioMs).toBeGreaterThan(estimate.audioMs);
    expect(parse({ input: 'Hello there', speed: 0.25 }).ceiling.audioMs).toBeGreaterThan(
      ceiling.audioMs,
    );
  });

  it('applies the defaults of the API', () => {
    expect(parse({ response_format: null, speed: null })).toMatchObject({
      format: 'mp3',
      speed: undefined,
      voice: 'alloy',
      accountBoundParam: undefined,
    });
  });

  it('keeps voices of the vendor account off shared capacity', () => {
    expect(parse({ voice: { id: 'voice_1' } }).accountBoundParam?.param).toBe('voice.id');
  });
});
