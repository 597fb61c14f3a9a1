const COLUMNS = [
  ['work', ({ work }) => work],
  ['yardstick', ({ yardstick }) => yardstick],
  ['gateway: Node', ({ node }) => node],
  ['Node + PostgreSQL', ({ tree }) => tree],
  ['Node to yardstick (lowest–highest round)', ({ result }) => result],
  ['with PostgreSQL', ({ treeResult }) => treeResult],
  ['budget (Node)', ({ budget }) => budget],
  ['', ({ isMet }) => (isMet === undefined ? '' : isMet ? 'met' : '**missed**')],
];

/** The rows' lines as one markdown table. */
export function toMarkdown(lines) {
  const head = `| ${COLUMNS.map(([name]) => name).join(' | ')} |`;
  const rule = `| ${COLUMNS.map((_, index) => (index === 0 ? '---' : '--:')).join(' | ')} |`;
  const rows = lines.map(
    (line) => `| ${COLUMNS.map(([, read]) => read(line) || '–').join(' | ')} |`,
  );
  return [head, rule, ...rows].join('\n');
}
