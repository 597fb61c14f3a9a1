import { writeFileSync } from 'node:fs';
import { codeOf } from '../../platform/errors/thrown.js';
import { parseIsoDateTime } from '../../platform/time/dates.js';
import { FAULT_KINDS, readTarget, type FaultKind } from '../../operator/replay/faults.js';
import type { ReplaySettings } from '../../operator/replay/run-replay.js';
import { CommandError, readInteger, UsageError, type Command } from './command.js';

type Options = Readonly<Record<string, string | undefined>>;

const MAX_SCALE = 100;
const MAX_SPEED = 1_000;

export const replayCommand: Command = {
  name: 'replay',
  summary:
    'Replay a window of the request log with providers or models removed and report the difference in cost and latency. Writes nothing to the database. Exit code 0: within all bounds, 1: a bound was exceeded, 2: the result is inconclusive.',
  parameters: [],
  options: {
    from: 'TIME',
    to: 'TIME',
    'without-from': 'TIME',
    'without-to': 'TIME',
    fault: FAULT_KINDS.join('|'),
    scale: 'N',
    speed: 'N',
    json: 'FILE',
    html: 'FILE',
    'max-failures': 'N%',
    'max-added-p95': 'Nms',
    'max-cost-increase': 'N%',
    'max-402': 'N',
    'max-429': 'N',
  },
  lists: { without: 'PROVIDER[@ACCOUNT][:MODEL]' },
  flags: ['uncalibrated'],
  async run({ options, lists, flags }, { config, print, printText, note, yieldToOthers }) {
    const replay = readReplaySettings(options, lists.without ?? []);
    const { json, html } = options;
    const { runReplay, ReplayError } = await import('../../operator/replay/run-replay.js');
    const { isCalibrated, LARGEST_DEVIATION } = await import('../../operator/replay/report.js');
    yieldToOthers();
    let report;
    try {
      report = await runReplay(replay, config(), note);
    } catch (error) {
      if (error instanceof ReplayError) throw new CommandError(error.message, 2);
      throw error;
    }
    if (json !== undefined) write(json, JSON.stringify(report, null, 2), printText);
    if (html !== undefined) {
      const { reportPage } = await import('../../operator/replay/report-page.js');
      write(html, reportPage(report), printText);
    }
    if (json !== '-' && html !== '-') {
      const { reportLines } = await import('../../operator/replay/report-table.js');
      reportLines(report).forEach(print);
    }
    if (!isCalibrated(report) && !flags.has('uncalibrated')) {
      throw new CommandError(
        `Without any change the simulated cost differs from the log by more than ${LARGEST_DEVIATION * 100} %, ` +
          'so the results are unreliable; use --uncalibrated to accept them anyway',
        2,
      );
    }
    return report.passed_bounds.length > 0 ? 1 : 0;
  },
};

/** @throws UsageError */
function readReplaySettings(options: Options, without: readonly string[]): ReplaySettings {
  const from = readTime('--from', options.from);
  const to = readTime('--to', options.to);
  if (from >= to) throw new UsageError('--to must be later than --from');
  const optional = (name: string, text: string | undefined, otherwise: Date): Date =>
    text === undefined ? otherwise : readTime(name, text);
  const withoutSpan = {
    from: optional('--without-from', options['without-from'], from),
    to: optional('--without-to', options['without-to'], to),
  };
  if (withoutSpan.from >= withoutSpan.to || withoutSpan.from >= to || withoutSpan.to <= from) {
    throw new UsageError('--without-from and --without-to must leave a span within the window');
  }
  const { scale = '1', speed = '1' } = options;
  return {
    window: { from, to },
    without: without.map((text) => {
      const target = readTarget(text);
      if (target) return target;
      throw new UsageError(
        `--without must name a provider, e.g. openai, openai:gpt-4o or openai@account, not ${JSON.stringify(text)}`,
      );
    }),
    withoutSpan,
    faultKind: readFault(options.fault ?? '503'),
    scale: readNumber('--scale', scale, 1, MAX_SCALE),
    speed: readNumber('--speed', speed, 0.1, MAX_SPEED),
    bounds: {
      ...bound('maxFailures', options['max-failures'], (text) => readShare('--max-failures', text)),
      ...bound('maxAddedP95', options['max-added-p95'], (text) =>
        readInteger('--max-added-p95', text.replace(/ms$/, ''), 0, 3_600_000),
      ),
      ...bound('maxCostIncrease', options['max-cost-increase'], (text) =>
        readShare('--max-cost-increase', text),
      ),
      ...bound('max402', options['max-402'], (text) => readCount('--max-402', text)),
      ...bound('max429', options['max-429'], (text) => readCount('--max-429', text)),
    },
  };
}

function bound<Name extends string>(
  name: Name,
  text: string | undefined,
  read: (text: string) => number,
): Partial<Record<Name, number>> {
  const bounds: Partial<Record<Name, number>> = {};
  if (text !== undefined) bounds[name] = read(text);
  return bounds;
}

function readTime(name: string, text: string | undefined): Date {
  const time = text === undefined ? undefined : parseIsoDateTime(text);
  if (time) return time;
  throw new UsageError(
    text === undefined
      ? `${name} is required`
      : `${name} must be an ISO 8601 time, e.g. 2026-01-15 or 2026-01-15T12:00:00Z`,
  );
}

function readFault(text: string): FaultKind {
  const kind = FAULT_KINDS.find((each) => each === text);
  if (kind) return kind;
  throw new UsageError(`--fault must be one of ${FAULT_KINDS.join(', ')}`);
}

function readCount(name: string, text: string): number {
  return readInteger(name, text, 0, Number.MAX_SAFE_INTEGER);
}

function readNumber(name: string, text: string, min: number, max: number): number {
  const value = /^\d{1,9}(\.\d{1,6})?$/.test(text) ? Number(text) : NaN;
  if (value >= min && value <= max) return value;
  throw new UsageError(`${name} must be a number from ${min} to ${max}`);
}

function readShare(name: string, text: string): number {
  if (/^\d{1,7}(\.\d{1,6})?%$/.test(text)) return Number(text.slice(0, -1)) / 100;
  throw new UsageError(`${name} must be a percentage, e.g. 1% or 0.5%`);
}

function write(file: string, content: string, printText: (text: string) => void): void {
  if (file === '-') {
    printText(content);
    return;
  }
  try {
    writeFileSync(file, content);
  } catch (error) {
    throw new CommandError(`${file} cannot be written (${codeOf(error) ?? 'unknown error'})`, 2);
  }
}
