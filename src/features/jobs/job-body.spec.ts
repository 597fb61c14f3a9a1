import { describe, expect, it } from '@jest/globals';
import { textFieldOf, toMediaRequest } from './job-body.js';

describe(toMediaRequest.name, () => {
  it('counts the pictures, one where nothing is said', () => {
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

  it('takes seconds as a number or a text, and reckons with the longest where there are none', () => {
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

  it('speaks with a usual voice and measures the text', () => {
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

  it('keeps what names things in a vendor account from shared capacity', () => {
    const value = { model: 'one/film', prompt: 'x', input_reference: { file_id: 'file-1' } };
    expect(toMediaRequest('video', value).accountBoundParam?.param).toBe('input_reference');
    expect(toMediaRequest('image', { ...value, input_reference: null }).accountBoundParam).toBe(
      undefined,
    );
  });

  it('knows which field the text came in', () => {
    expect([textFieldOf({ prompt: 'x' }), textFieldOf({ prompt: null, input: 'x' })]).toEqual([
      'prompt',
      'input',
    ]);
  });
});
