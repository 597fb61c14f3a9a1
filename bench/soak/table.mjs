const BEFORE = ['before', ({ before }) => before];
const COLUMNS = [
  ['scenario', ({ id }) => id],
  ['measurement', ({ what }) => what],
  ['figure', ({ figure }) => figure],
  ['bound', ({ bound }) => bound],
  ['', ({ isMet }) => (isMet === undefined ? '' : isMet ? 'met' : '**missed**')],
];

/** Renders the scenarios' lines as a Markdown table. */
export function toMarkdown(results) {
  const hasBefore = results.some(({ lines }) => lines.some(({ before }) => before !== undefined));
  const columns = hasBefore ? [...COLUMNS.slice(0, 2), BEFORE, ...COLUMNS.slice(2)] : COLUMNS;
  const head = `| ${columns.map(([name]) => name).join(' | ')} |`;
  const rule = `| ${columns.map(() => '---').join(' | ')} |`;
  const rows = results.flatMap(({ id, lines }) =>
    lines.map(
      (line) => `| ${columns.map(([, read]) => read({ id, ...line }) || '–').join(' | ')} |`,
    ),
  );
  return [head, rule, ...rows].join('\n');
}

/** A line with an upper bound. */
export function atMost(what, value, limit, spell = String) {
  return { what, figure: spell(value), bound: `≤ ${spell(limit)}`, isMet: value <= limit };
}

/** A line that must be zero. */
export function none(what, value) {
  return { what, figure: String(value), bound: '0', isMet: value === 0 };
}

/** A line with a lower bound. */
export function atLeast(what, value, limit, spell = String) {
  return { what, figure: spell(value), bound: `≥ ${spell(limit)}`, isMet: value >= limit };
}

/** A line for information only. */
export function told(what, figure) {
  return { what, figure: String(figure) };
}

export function seconds(value) {
  return `${value.toFixed(1)} s`;
}

export function milliseconds(value) {
  return `${Math.round(value)} ms`;
}
