import { describe, expect, it } from '@jest/globals';
import {
  isRedactedThought,
  readRedactedData,
  readSignature,
  encodeCallSignature,
  encodeRedactedData,
  encodeSignature,
} from './message-signatures.js';

const BASE64 = 'ErUBCkYIAxgCKkA+/abc==';

describe('message signatures', () => {
  it("keeps the native vendor's signatures unchanged", () => {
    expect(encodeSignature(`anthropic:${BASE64}`)).toBe(BASE64);
    expect(readSignature(BASE64)).toBe(`anthropic:${BASE64}`);
    expect(encodeRedactedData(`anthropic:redacted:${BASE64}`)).toBe(BASE64);
    expect(readRedactedData(BASE64)).toEqual({ signature: `anthropic:redacted:${BASE64}` });
  });

  it("keeps the vendor's prefix on other signatures", () => {
    for (const signature of [`google-vertex:${BASE64}`, 'other:{"a":1}']) {
      expect(encodeSignature(signature)).toBe(signature);
      expect(readSignature(signature)).toBe(signature);
      expect(encodeRedactedData(signature)).toBe(signature);
      expect(readRedactedData(signature)).toEqual({ signature });
      expect(isRedactedThought(signature)).toBe(false);
    }
  });

  it('distinguishes a signature from a redacted thought', () => {
    expect(isRedactedThought(`anthropic:redacted:${BASE64}`)).toBe(true);
    expect(isRedactedThought(`anthropic:${BASE64}`)).toBe(false);
    expect(encodeRedactedData(`anthropic:${BASE64}`)).toBeUndefined();
  });

  it("encodes the call's id with the signature of a tool call, whatever it contains", () => {
    for (const id of ['toolu_1', 'a:b:c', 'Ü/+=', '']) {
      const data = encodeCallSignature(id, 'other:c2ln:x');
      expect(readRedactedData(data)).toEqual({ signature: 'other:c2ln:x', toolCallId: id });
    }
  });

  it('treats an empty signature as absent', () => {
    expect(readSignature('')).toBeUndefined();
  });
});
