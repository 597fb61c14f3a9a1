import { describe, expect, it } from '@jest/globals';
import {
  isRedactedThought,
  readRedactedData,
  readSignature,
  spellCallSignature,
  spellRedactedData,
  spellSignature,
} from './message-signatures.js';

const BASE64 = 'ErUBCkYIAxgCKkA+/abc==';

describe('signatures on reasoning', () => {
  it('of the native maker are spelled as it wrote them', () => {
    expect(spellSignature(`anthropic:${BASE64}`)).toBe(BASE64);
    expect(readSignature(BASE64)).toBe(`anthropic:${BASE64}`);
    expect(spellRedactedData(`anthropic:redacted:${BASE64}`)).toBe(BASE64);
    expect(readRedactedData(BASE64)).toEqual({ signature: `anthropic:redacted:${BASE64}` });
  });

  it('of other makers keep their name', () => {
    for (const signature of [`google-vertex:${BASE64}`, 'other:{"a":1}']) {
      expect(spellSignature(signature)).toBe(signature);
      expect(readSignature(signature)).toBe(signature);
      expect(spellRedactedData(signature)).toBe(signature);
      expect(readRedactedData(signature)).toEqual({ signature });
      expect(isRedactedThought(signature)).toBe(false);
    }
  });

  it('tell a signature from a thought that is all encrypted', () => {
    expect(isRedactedThought(`anthropic:redacted:${BASE64}`)).toBe(true);
    expect(isRedactedThought(`anthropic:${BASE64}`)).toBe(false);
    expect(spellRedactedData(`anthropic:${BASE64}`)).toBeUndefined();
  });

  it('of tool calls come with the call’s id, whatever that holds', () => {
    for (const id of ['toolu_1', 'a:b:c', 'Ü/+=', '']) {
      const data = spellCallSignature(id, 'other:c2ln:x');
      expect(readRedactedData(data)).toEqual({ signature: 'other:c2ln:x', toolCallId: id });
    }
  });

  it('that are empty are none', () => {
    expect(readSignature('')).toBeUndefined();
  });
});
