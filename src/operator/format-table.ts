import { escapeControls } from '../platform/text/one-line.js';

/** Formats rows of cells as lines, each column as wide as its widest cell. Control characters are escaped. */
export function formatTable(given: readonly (readonly string[])[]): string[] {
  const rows = given.map((row) => row.map(escapeControls));
  const widths: number[] = [];
  for (const row of rows) {
    row.forEach((cell, column) => (widths[column] = Math.max(widths[column] ?? 0, cell.length)));
  }
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}
