const MET = { true: 'met', false: '**missed**' };
const COLUMNS = [
  ['work', ({ work }) => work],
  ['yardstick', ({ yardstick }) => yardstick],
  ['gateway: Node', ({ node }) => node],
  ['PostgreSQL', ({ postgres }) => postgres],
  ['both', ({ tree }) => tree],
  ['Node to yardstick (lowest–highest round)', ({ result }) => result],
  ['both to yardstick', ({ treeResult }) => treeResult],
  ['budget', ({ budgets = [] }) => budgets.map(({ text }) => text).join('; ')],
  ['', ({ budgets = [] }) => budgets.map(({ isMet }) => MET[isMet]).join('; ')],
];

/**
 * Renders lines as a Markdown table.
 *
 * @param columns each with its name and a function that returns the cell of a line
 */
export function toMarkdown(lines, columns = COLUMNS) {
  const head = `| ${columns.map(([name]) => name).join(' | ')} |`;
  const rule = `| ${columns.map((_, index) => (index === 0 ? '---' : '--:')).join(' | ')} |`;
  const rows = lines.map(
    (line) => `| ${columns.map(([, read]) => read(line) || '–').join(' | ')} |`,
  );
  return [head, rule, ...rows].join('\n');
}
