import { describe, expect, it } from '@jest/globals';
import {
  isRedactedThought,
  readRedactedData,
  readSignature,
  spellCallSeal,
  spellRedactedData,
  spellSignature,
} from './message-seals.js';

const BASE64 = 'ErUBCkYIAxgCKkA+/abc==';

describe('seals on reasoning', () => {
  it('of the native maker are spelled as it wrote them', () => {
    expect(spellSignature(`anthropic:${BASE64}`)).toBe(BASE64);
    expect(readSignature(BASE64)).toBe(`anthropic:${BASE64}`);
    expect(spellRedactedData(`anthropic:redacted:${BASE64}`)).toBe(BASE64);
    expect(readRedactedData(BASE64)).toEqual({ seal: `anthropic:redacted:${BASE64}` });
  });

  it('of other makers keep their name', () => {
    for (const seal of [`google-vertex:${BASE64}`, 'other:{"a":1}']) {
      expect(spellSignature(seal)).toBe(seal);
      expect(readSignature(seal)).toBe(seal);
      expect(spellRedactedData(seal)).toBe(seal);
      expect(readRedactedData(seal)).toEqual({ seal });
      expect(isRedactedThought(seal)).toBe(false);
    }
  });

  it('tell a signature from a thought that is all encrypted', () => {
    expect(isRedactedThought(`anthropic:redacted:${BASE64}`)).toBe(true);
    expect(isRedactedThought(`anthropic:${BASE64}`)).toBe(false);
    expect(spellRedactedData(`anthropic:${BASE64}`)).toBeUndefined();
  });

  it('of tool calls come with the call’s id, whatever that holds', () => {
    for (const id of ['toolu_1', 'a:b:c', 'Ü/+=', '']) {
      const data = spellCallSeal(id, 'other:c2ln:x');
      expect(readRedactedData(data)).toEqual({ seal: 'other:c2ln:x', toolCallId: id });
    }
  });

  it('that are empty are none', () => {
    expect(readSignature('')).toBeUndefined();
  });
});
