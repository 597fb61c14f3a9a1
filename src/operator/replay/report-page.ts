import { createHash } from 'node:crypto';
import { calibrationLine, percent, type Report } from './report.js';

/** Table rows on the page. The JSON report has all. */
const MAX_GROUPS = 200;
const WIDTH = 400;
const HEIGHT = 160;
const LEFT = 52;
const RIGHT = 8;
const TOP = 12;
const BOTTOM = 24;

const STYLE = `
:root{color-scheme:light dark;--ink:#1b1f24;--paper:#fff;--soft:#57606a;--line:#d0d7de;--before:#0969da;--after:#bc4c00}
@media (prefers-color-scheme:dark){:root{--ink:#e6edf3;--paper:#0d1117;--soft:#9198a1;--line:#3d444d;--before:#58a6ff;--after:#f0883e}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:76rem;padding:1.5rem;font:15px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--paper)}
h1{font-size:1.5rem;margin:0 0 .5rem}h2{font-size:1.15rem;margin:2rem 0 .5rem}
p,ul{max-width:60rem}.soft{color:var(--soft)}.bad{border-left:4px solid var(--after);padding-left:.75rem}
.scroll{overflow-x:auto}table{border-collapse:collapse;width:100%;font-size:.9rem}
caption{text-align:left;color:var(--soft);padding-bottom:.25rem}
th,td{padding:.3rem .6rem;border-bottom:1px solid var(--line);text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}
thead th{vertical-align:bottom}th[scope=row],td.name,th.name{text-align:left}th[scope=row]{white-space:normal}
.plots{display:grid;grid-template-columns:repeat(auto-fit,minmax(20rem,1fr));gap:1.5rem}
figure{margin:0}figcaption{font-weight:600}svg{width:100%;height:auto;display:block}
.axis{stroke:var(--line)}.tick{fill:var(--soft);font-size:12px}
.before{stroke:var(--before);fill:none;stroke-width:2}.after{stroke:var(--after);fill:none;stroke-width:2;stroke-dasharray:6 3}
.key-before{color:var(--before)}.key-after{color:var(--after)}
`;

type Point = Report['series'][number];
type Line = Report['all'];

/**
 * Renders the report as a self-contained page: no scripts, no requests, and only its own styles. Names
 * are escaped.
 */
export function reportPage(report: Report): string {
  const hash = createHash('sha256').update(STYLE).digest('base64');
  const policy = `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'`;
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>Traffic replay of ${text(report.from)}</title>
<style>${STYLE}</style></head><body><main>
<h1>Traffic replay</h1>
<p>${text(report.from)} to ${text(report.to)}: ${text(report.changes.join('; '))}.</p>
${report.passed_bounds.map((line) => `<p class="bad"><strong>Bound exceeded:</strong> ${text(line)}</p>`).join('')}
${report.warnings.map((line) => `<p class="bad"><strong>Warning:</strong> ${text(line)}</p>`).join('')}
<p class="soft">${text(calibrationLine(report))}</p>
<h2>All requests</h2>
${summary(report.all)}
<h2>Over time</h2>
<p><span class="key-before">━━ as logged</span> &nbsp; <span class="key-after">╍╍ with the change</span></p>
<div class="plots">${plots(report)}</div>
<h2>By provider</h2>
${table(
  'Answers by provider',
  ['Provider'],
  report.providers.map((each) => ({ names: [each.provider], line: each })),
)}
<h2>By tenant and model</h2>
${table(
  `The ${Math.min(MAX_GROUPS, report.groups.length)} with the most requests, of ${report.groups.length}`,
  ['Tenant', 'Model'],
  report.groups
    .slice(0, MAX_GROUPS)
    .map((each) => ({ names: [each.tenant, each.model], line: each })),
)}
<h2>Not simulated</h2>
<ul>${report.not_simulated.map((line) => `<li>${text(line)}</li>`).join('')}</ul>
<p class="soft">The log has the request options of ${report.asked_in_log} requests; for the others, the fallback chain is inferred from their attempts.
${report.not_played} requests could not be replayed and count as logged. Calls to vendors:
${report.vendor_calls.log} as logged, ${report.vendor_calls.fault} failed because of the change, ${report.vendor_calls.learned} drawn from
the window's statistics, ${report.vendor_calls.guessed} guessed.</p>
</main></body></html>
`;
}

function summary({ before, after, added_first_ms, added_total_ms, cost_increase }: Line): string {
  const quantiles = (each: Line['added_first_ms']): string =>
    [each.p50, each.p95, each.p99].map(number).join(' / ');
  const rows: [string, string, string][] = [
    ['Requests', number(before.requests), number(after.requests)],
    ['Failed', number(before.failed), number(after.failed)],
    ['402: insufficient credits', number(before.no_credits), number(after.no_credits)],
    ['429: rate limited', number(before.too_many), number(after.too_many)],
    [
      'Charged to tenants, credits',
      number(before.cost),
      `${number(after.cost)} (${percent(cost_increase)})`,
    ],
    ['Vendor cost, credits', number(before.vendor_cost), number(after.vendor_cost)],
    ['First content, ms (p50 / p95 / p99)', quantiles(before.first_ms), quantiles(after.first_ms)],
    ['Whole answer, ms (p50 / p95 / p99)', quantiles(before.total_ms), quantiles(after.total_ms)],
    ['Added to the first content, ms', '', quantiles(added_first_ms)],
    ['Added to the whole answer, ms', '', quantiles(added_total_ms)],
  ];
  return `<div class="scroll" role="region" aria-label="All requests" tabindex="0"><table><caption>As logged, and with the change</caption>
<thead><tr><th scope="col" class="name">Figure</th><th scope="col">As logged</th><th scope="col">With the change</th></tr></thead>
<tbody>${rows.map(([name, one, other]) => `<tr><th scope="row">${text(name)}</th><td>${text(one)}</td><td>${text(other)}</td></tr>`).join('')}</tbody></table></div>`;
}

function table(
  caption: string,
  names: readonly string[],
  rows: readonly { names: readonly string[]; line: Line }[],
): string {
  const columns = ['Requests', 'Failed', '→', '402', '→', '429', '→', 'Credits', '→', 'Change'];
  const added = ['+ first p50', 'p95', 'p99'];
  const heading = [
    ...names.map((name) => `<th scope="col" class="name">${text(name)}</th>`),
    ...[...columns, ...added].map((name) => `<th scope="col">${text(name)}</th>`),
  ].join('');
  const body = rows.map(({ names: [first = '', ...others], line }) => {
    const { before, after, added_first_ms: first_ms } = line;
    const cells = [
      ...[before.requests, before.failed, after.failed, before.no_credits, after.no_credits],
      ...[before.too_many, after.too_many, before.cost, after.cost],
    ].map(number);
    cells.push(percent(line.cost_increase));
    cells.push(...[first_ms.p50, first_ms.p95, first_ms.p99].map(number));
    const all = [
      `<th scope="row">${text(first)}</th>`,
      ...others.map((name) => `<td class="name">${text(name)}</td>`),
      ...cells.map((cell) => `<td>${text(cell)}</td>`),
    ];
    return `<tr>${all.join('')}</tr>`;
  });
  return `<div class="scroll" role="region" aria-label="${text(caption)}" tabindex="0"><table><caption>${text(caption)}</caption><thead><tr>${heading}</tr></thead><tbody>${body.join('')}</tbody></table></div>`;
}

function plots({ series }: Report): string {
  const one = (title: string, before: (point: Point) => number, after: (point: Point) => number) =>
    plot(title, series, [series.map(before), series.map(after)]);
  return [
    one(
      'Requests without an answer',
      ({ before }) => before.requests - before.answered,
      ({ after }) => after.requests - after.answered,
    ),
    one(
      'First content, 95th percentile, ms',
      ({ before }) => before.first_ms.p95 ?? 0,
      ({ after }) => after.first_ms.p95 ?? 0,
    ),
    one(
      'Credits charged',
      ({ before }) => before.cost,
      ({ after }) => after.cost,
    ),
    one(
      'Requests',
      ({ before }) => before.requests,
      ({ after }) => after.requests,
    ),
  ].join('');
}

function plot(
  title: string,
  series: readonly Point[],
  [before = [], after = []]: readonly (readonly number[])[],
): string {
  const most = Math.max(1, ...before, ...after);
  const x = (index: number): string =>
    (LEFT + (index / Math.max(1, series.length - 1)) * (WIDTH - LEFT - RIGHT)).toFixed(1);
  const y = (value: number): string =>
    (HEIGHT - BOTTOM - (value / most) * (HEIGHT - TOP - BOTTOM)).toFixed(1);
  const line = (name: string, values: readonly number[]): string =>
    `<polyline class="${name}" points="${values.map((value, index) => `${x(index)},${y(value)}`).join(' ')}"/>`;
  const base = HEIGHT - BOTTOM;
  const begin = series[0]?.at.slice(0, 16) ?? '';
  const end = series.at(-1)?.at.slice(0, 16) ?? '';
  const sum = (values: readonly number[]): string => number(Math.max(0, ...values));
  const label = `${title}: at most ${sum(before)} as logged and ${sum(after)} with the change`;
  return `<figure><figcaption>${text(title)}</figcaption><svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${text(label)}">
<line class="axis" x1="${LEFT}" y1="${base}" x2="${WIDTH - RIGHT}" y2="${base}"/><line class="axis" x1="${LEFT}" y1="${TOP}" x2="${LEFT}" y2="${base}"/>
<text class="tick" x="${LEFT - 6}" y="${TOP + 8}" text-anchor="end">${text(short(most))}</text><text class="tick" x="${LEFT - 6}" y="${base}" text-anchor="end">0</text>
<text class="tick" x="${LEFT}" y="${HEIGHT - 6}">${text(begin)}</text><text class="tick" x="${WIDTH - RIGHT}" y="${HEIGHT - 6}" text-anchor="end">${text(end)}</text>
${line('before', before)}${line('after', after)}</svg></figure>`;
}

/** Formats as `3.3M` where space is limited. */
function short(value: number): string {
  return value.toLocaleString('en-US', { notation: 'compact', maximumFractionDigits: 1 });
}

function number(value: number | null): string {
  return value === null ? '–' : Math.round(value).toLocaleString('en-US');
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Escapes text for HTML, including attributes. */
function text(value: string): string {
  return value.replace(/[&<>"']/g, (character) => ENTITIES[character]!);
}
