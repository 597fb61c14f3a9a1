import { describe, expect, it } from '@jest/globals';
import { customToolNames, fromFunctionArguments, toFunctionArguments } from './custom-tools.js';

describe('custom tools as functions', () => {
  it.each(['', 'ls -l', '{"input":"x"}', '"quoted"\n👋'])('bring %j there and back', (input) => {
    expect(fromFunctionArguments(toFunctionArguments(input))).toBe(input);
  });

  it.each(['plain text', '{"other":1}', '[1]', ''])('take %j for the text itself', (args) => {
    expect(fromFunctionArguments(args)).toBe(args);
  });

  it('are told by their type', () => {
    const tools = [
      { type: 'custom', name: 'a' },
      { type: 'function', name: 'b' },
    ];
    expect([...customToolNames(tools)]).toEqual(['a']);
    expect([...customToolNames(undefined)]).toEqual([]);
  });
});
