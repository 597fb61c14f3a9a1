import { stringify } from 'csv-stringify/sync';

export type CsvValue = string | number | null;

/**
 * Lines of CSV (RFC 4180), each ended with CRLF; null is an empty field. A text that a spreadsheet
 * would take for a formula gets an apostrophe in front. Numbers stay numbers.
 */
export function toCsv(records: readonly (readonly CsvValue[])[]): string {
  return stringify(
    records.map((record) => [...record]),
    {
      record_delimiter: 'windows',
      escape_formulas: true,
      // The library quotes its own line ends only, RFC 4180 any.
      quoted_match: /[\r\n]/,
    },
  );
}
