import { describe, expect, it } from '@jest/globals';
import type { CanonicalMessage } from '../../canonical/canonical-request.js';
import { assertToolInputs, toolInput } from './tool-calls.js';

describe(toolInput.name, () => {
  it.each<[string, object | undefined]>([
    ['{"a": 1}', { a: 1 }],
    [' \n{}', {}],
    ['', {}],
    [' ', {}],
    ['{"a": 1', undefined],
    ['[1]', undefined],
    ['"{}"', undefined],
    ['any text', undefined],
  ])('parses %j as %j', (text, input) => {
    expect(toolInput(text)).toEqual(input);
  });
});

describe(assertToolInputs.name, () => {
  const calls = (...texts: string[]): CanonicalMessage[] =>
    texts.map((text) => ({
      role: 'assistant',
      parts: [{ type: 'tool_call', id: 'c', name: 'f', arguments: text }],
    }));
  const wide = `{"a": [${'{},'.repeat(60_000)}1]}`;
  const deep = (levels: number) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;

  it.each([
    ['nest 201 levels deep', [deep(201)]],
    ['nest far beyond the limit', [deep(400_000)]],
    ['have too many parts together', [wide, wide]],
  ])('rejects arguments that %s', (_, texts) => {
    expect(() => assertToolInputs(calls(...texts), 'messages')).toThrow(
      expect.objectContaining({ failure: 'unsupported', param: 'messages' }),
    );
  });

  it.each([
    ['200 levels', [deep(200)]],
    ['many parts, once', [wide]],
    ['a long text with any content', [JSON.stringify({ code: '{[,:]}'.repeat(100_000) })]],
    ['non-objects, which are not parsed', ['['.repeat(400_000), `"${'{'.repeat(400_000)}`]],
  ])('accepts %s', (_, texts) => {
    expect(() => assertToolInputs(calls(...texts), 'messages')).not.toThrow();
  });
});
