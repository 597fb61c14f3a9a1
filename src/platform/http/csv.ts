import { stringify } from 'csv-stringify/sync';

export type CsvValue = string | number | null;

/**
 * Formats CSV lines (RFC 4180) that end with CRLF; null is an empty field. A text that a spreadsheet would read as a
 * formula gets a leading apostrophe. Numbers stay numbers.
 */
export function toCsv(records: readonly (readonly CsvValue[])[]): string {
  return stringify(
    records.map((record) => [...record]),
    {
      record_delimiter: 'windows',
      escape_formulas: true,
      // The library quotes its own line ends only; RFC 4180 requires any.
      quoted_match: /[\r\n]/,
    },
  );
}
