import { describe, expect, it } from '@jest/globals';
import { textFieldOf, toMediaRequest } from './job-body.js';

describe(toMediaRequest.name, () => {
  it('counts images, one by default', () => {
    const base = { model: 'one/draw', prompt: 'a cat' };
    expect(toMediaRequest('image', base)).toMatchObject({
      kind: 'image',
      prompt: 'a cat',
      count: 1,
      ceiling: { imageCount: 1 },
      estimate: { imageCount: 1 },
    });
    expect(toMediaRequest('image', { ...base, n: 4 })).toMatchObject({
      count: 4,
      ceiling: { imageCount: 4 },
    });
  });

  it('accepts seconds as number or string, and estimates the maximum without them', () => {
    const base = { model: 'one/film', input: 'a cat' };
    for (const seconds of [12, '12']) {
      expect(toMediaRequest('video', { ...base, seconds })).toMatchObject({
        kind: 'video',
        prompt: 'a cat',
        seconds: 12,
        ceiling: { videoSeconds: 12 },
      });
    }
    expect(toMediaRequest('video', base)).toMatchObject({
      seconds: undefined,
      ceiling: { videoSeconds: 8 },
    });
  });

  it('defaults to a common voice and measures the text', () => {
    expect(toMediaRequest('audio', { model: 'one/say', prompt: 'né' })).toMatchObject({
      kind: 'speech',
      text: 'né',
      voice: 'alloy',
      format: 'mp3',
      ceiling: { inputCharacters: 2, inputBytes: 3 },
    });
    expect(
      toMediaRequest('audio', { model: 'one/say', input: 'x', voice: { id: 'mine' } }),
    ).toMatchObject({ voice: 'mine', accountBoundParam: { param: 'voice.id' } });
  });

  it('keeps references to vendor accounts off shared capacity', () => {
    const value = { model: 'one/film', prompt: 'x', input_reference: { file_id: 'file-1' } };
    expect(toMediaRequest('video', value).accountBoundParam?.param).toBe('input_reference');
    expect(toMediaRequest('image', { ...value, input_reference: null }).accountBoundParam).toBe(
      undefined,
    );
  });

  it('knows the field of the text', () => {
    expect([textFieldOf({ prompt: 'x' }), textFieldOf({ prompt: null, input: 'x' })]).toEqual([
      'prompt',
      'input',
    ]);
  });
});
