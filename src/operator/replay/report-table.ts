import { oneLine } from '../../platform/text/one-line.js';
import { formatTable } from '../format-table.js';
import { calibrationLine, percent, type Report } from './report.js';

/** Groups shown in the terminal. The JSON report has all. */
const MAX_GROUPS = 25;
const LONGEST_NAME = 40;

const HEADING = [
  ...['REQUESTS', 'FAILED', 'WOULD', '402', 'WOULD', '429', 'WOULD', 'CREDITS', 'WOULD', 'CHANGE'],
  ...['+FIRST P50', 'P95', 'P99', '+TOTAL P50', 'P95', 'P99'],
];

type Line = Report['all'];

/** Renders the report for the terminal. */
export function reportLines(report: Report): string[] {
  const groups = report.groups.slice(0, MAX_GROUPS);
  const left = report.groups.length - groups.length;
  const rows = [
    ['TENANT', 'MODEL', ...HEADING],
    ['(all)', '', ...cells(report.all)],
    ...groups.map((group) => [
      oneLine(group.tenant, LONGEST_NAME),
      oneLine(group.model, LONGEST_NAME),
      ...cells(group),
    ]),
  ];
  const { vendor_calls: calls, all } = report;
  return [
    `Traffic replay of ${report.from} to ${report.to}: ${report.changes.join('; ')}`,
    calibrationLine(report),
    '',
    ...formatTable(rows),
    ...(left > 0 ? [`… and ${left} more; --json writes all of them.`] : []),
    '',
    `Vendor cost: ${all.after.vendor_cost} credits instead of ${all.before.vendor_cost}.`,
    `First content p50/p95/p99: ${times(all.before.first_ms)} before, ${times(all.after.first_ms)} after, in ms.`,
    `Calls to vendors: ${calls.log} as logged, ${calls.fault} failed because of the change, ${calls.learned} drawn from the window's statistics, ${calls.guessed} guessed.`,
    `The log has the request options of ${report.asked_in_log} requests; for the others, the fallback chain is inferred from their attempts.`,
    `${report.not_played} requests could not be replayed and count as logged.`,
    ...report.warnings.map((warning) => `Warning: ${warning}`),
    'Not simulated:',
    ...report.not_simulated.map((line) => `- ${line}`),
    ...report.passed_bounds.map((line) => `Bound exceeded: ${line}`),
    `Done in ${report.seconds} s.`,
  ];
}

function cells({ before, after, cost_increase, added_first_ms, added_total_ms }: Line): string[] {
  return [
    ...[before.requests, before.failed, after.failed, before.no_credits, after.no_credits],
    ...[before.too_many, after.too_many, before.cost, after.cost, percent(cost_increase)],
    ...[added_first_ms, added_total_ms].flatMap(({ p50, p95, p99 }) => [p50, p95, p99]),
  ].map((cell) => (cell === null ? '-' : String(cell)));
}

function times({ p50, p95, p99 }: Line['added_first_ms']): string {
  return [p50, p95, p99].map((each) => each ?? '-').join('/');
}
