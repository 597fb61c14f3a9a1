import { describe, expect, it } from '@jest/globals';
import { asciiLowerCase } from './ascii-lower-case.js';
import { escapeControls, escapeControlsOfLines, oneLine } from './one-line.js';

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

describe(escapeControls.name, () => {
  it.each([
    ['a\nb\tc', 'a\\u000ab\\u0009c'],
    ['\u001b[2J\u009b31m', '\\u001b[2J\\u009b31m'],
    ['safe\u202Egnp.exe', 'safe\\u202egnp.exe'],
    ['ac\u200Bme', 'ac\\u200bme'],
    ['\u{E0041}', '\\udb40\\udc41'],
    ['Zoë Łukasz 😀', 'Zoë Łukasz 😀'],
  ])('shows what %j holds', (text, line) => {
    expect(escapeControls(text)).toBe(line);
  });

  it('keeps the meaning of JSON', () => {
    const value = { name: 'a\nb\u009b\u2028\u{E0041}\u202E"' };
    expect(JSON.parse(escapeControls(JSON.stringify(value)))).toEqual(value);
    const text = JSON.stringify(value, null, 2);
    expect(escapeControlsOfLines(text).split('\n')).toHaveLength(3);
    expect(JSON.parse(escapeControlsOfLines(text))).toEqual(value);
  });
});
