import { oneLine } from '../../platform/text/one-line.js';
import { formatTable } from '../format-table.js';
import { calibrationLine, percent, type Report } from './report.js';

/** Groups on the terminal; JSON has them all. */
const MAX_GROUPS = 25;
const LONGEST_NAME = 40;

const HEADING = [
  ...['REQUESTS', 'FAILED', 'WOULD', '402', 'WOULD', '429', 'WOULD', 'CREDITS', 'WOULD', 'CHANGE'],
  ...['+FIRST P50', 'P95', 'P99', '+TOTAL P50', 'P95', 'P99'],
];

type Line = Report['all'];

/** The report for the terminal, in lines. */
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
    `Rehearsal of ${report.from} to ${report.to}: ${report.changes.join('; ')}`,
    calibrationLine(report),
    '',
    ...formatTable(rows),
    ...(left > 0 ? [`… and ${left} more; --json has all of them.`] : []),
    '',
    `Vendors would have taken ${all.after.vendor_cost} credits rather than ${all.before.vendor_cost}.`,
    `First content p50/p95/p99: ${times(all.before.first_ms)} before, ${times(all.after.first_ms)} after, in ms.`,
    `Calls to vendors: ${calls.log} as in the log, ${calls.fault} met what was taken away, ${calls.learned} as learned from the window, ${calls.guessed} guessed.`,
    `Of ${report.asked_in_log} requests the log has what was asked for beyond a model; of the others the chain is inferred from their attempts.`,
    `${report.not_played} requests could not be played again and count as the log has them.`,
    ...report.warnings.map((warning) => `Warning: ${warning}`),
    'Not simulated:',
    ...report.not_simulated.map((line) => `- ${line}`),
    ...report.passed_bounds.map((line) => `Beyond its bound: ${line}`),
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
