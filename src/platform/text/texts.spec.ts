import { describe, expect, it } from '@jest/globals';
import { asciiLowerCase } from './ascii-lower-case.js';
import { oneLine } from './one-line.js';

describe(asciiLowerCase.name, () => {
  it.each([
    ['Kate@ACME.example', 'kate@acme.example'],
    ['\u212Aate@acme.example', '\u212Aate@acme.example'],
    ['\u0130stanbul', '\u0130stanbul'],
    ['\uFF21zure', '\uFF21zure'],
  ])('folds A to Z only: %j', (text, folded) => {
    expect(asciiLowerCase(text)).toBe(folded);
  });
});

describe(oneLine.name, () => {
  it.each([
    ['a\nb\r\nc\u2028d\u0085e', 'a b c d e'],
    ['safe\u202Egnp.exe', 'safe gnp.exe'],
    ['zero\u200Bwidth', 'zero width'],
    ['\u001b[31mred', '[31mred'],
    ['  plain   text ', 'plain text'],
  ])('makes one printable line of %j', (text, line) => {
    expect(oneLine(text)).toBe(line);
  });

  it('cuts long texts between characters', () => {
    expect(oneLine('😀'.repeat(300), 10)).toBe(`${'😀'.repeat(9)}…`);
  });
});
