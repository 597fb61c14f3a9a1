import { describe, expect, it } from '@jest/globals';
import { DocumentNames } from './converse-blocks.js';

describe(DocumentNames.name, () => {
  it.each<[string | undefined, string]>([
    ['report.pdf', 'report'],
    ["John's  report #1 (final).v2.pdf", 'John s report 1 (final) v2'],
    ['[a]-b_c.txt', '[a]-b c'],
    ['résumé\u3000neu.docx', 'r sum neu'],
    ['分期报告.pdf', 'document'],
    ['.pdf', 'document'],
    ['', 'document'],
    [undefined, 'document'],
    ['\t\n', 'document'],
    ['x'.repeat(300), 'x'.repeat(200)],
  ])('turns %j into %j', (filename, expected) => {
    expect(new DocumentNames().next(filename)).toBe(expected);
  });

  it('are unique and not too long', () => {
    const names = new DocumentNames();
    const long = 'y'.repeat(250);
    expect(['a.pdf', 'a.txt', 'a 2.pdf', 'a'].map((name) => names.next(name))).toEqual([
      'a',
      'a 2',
      'a 2 2',
      'a 3',
    ]);
    expect(names.next(long)).toBe('y'.repeat(200));
    expect(names.next(long)).toBe(`${'y'.repeat(193)} 2`);
  });

  it.each([
    ['one name', () => 'a.pdf'],
    ['long names with a common prefix', (index: number) => `${'y'.repeat(220)}${index}.pdf`],
    ['names with every other one numbered', (index: number) => (index % 2 ? 'a' : `a ${index}`)],
  ])('takes little time for thousands of %s', (_, nameOf) => {
    const names = new DocumentNames();
    const startedMs = performance.now();
    const given = Array.from({ length: 16_000 }, (_each, index) => names.next(nameOf(index)));
    // Trying every number again took a minute.
    expect(performance.now() - startedMs).toBeLessThan(6_000);
    expect(new Set(given).size).toBe(given.length);
  });
});
