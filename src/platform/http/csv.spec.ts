import { describe, expect, it } from '@jest/globals';
import { toCsv } from './csv.js';

describe(toCsv.name, () => {
  it('ends each line with CRLF and leaves null empty', () => {
    expect(
      toCsv([
        ['a', 1, null],
        ['b', -2, ''],
      ]),
    ).toBe('a,1,\r\nb,-2,\r\n');
  });

  it('quotes values with a comma, a quote or a line break', () => {
    expect(toCsv([['a,b', 'say "x"', 'two\nlines', 'two\rlines']])).toBe(
      '"a,b","say ""x""","two\nlines","two\rlines"\r\n',
    );
  });

  it.each(['=1+1', '+1', '-1', '@SUM(A1)', '\t=1', '\r=1'])(
    'keeps a spreadsheet from computing %j',
    (text) => {
      expect(toCsv([[text]])).toMatch(/^"?'/);
    },
  );

  it('returns nothing for no records', () => {
    expect(toCsv([])).toBe('');
  });
});
