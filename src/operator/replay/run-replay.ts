import pg, { type Client } from 'pg';
import {
  ArchiveBucket,
  ArchiveUnavailableError,
} from '../../core/request-log/archive/archive-bucket.js';
import { RequestLogArchive } from '../../core/request-log/archive/request-log-archive.js';
import type { Span } from '../../core/request-log/split-span.js';
import type { AppConfig } from '../../platform/config/app-config.js';
import { attachEmbeddedPostgres } from '../../platform/database/embedded-postgres.js';
import '../../platform/database/database-options.js';
import { toError } from '../../platform/errors/thrown.js';
import { passedBounds, type Bounds } from './bounds.js';
import { Comparison, Logged } from './comparison.js';
import { Faults, type FaultKind, type Target } from './faults.js';
import { LearnedVendors } from './learned-vendors.js';
import { ArchivedWindow, type Spent } from './archived-window.js';
import { beginReading, rowsOf, type Window, type WindowRow } from './log-window.js';
import { ReplayConfig } from './replay-config.js';
import { readEnvironment, type ReplayEnvironment } from './replay-environment.js';
import { ReplayLimits } from './replay-limits.js';
import { ReplayTime } from './replay-time.js';
import { Replay } from './replay.js';
import type { ReplayResult } from './replay-result.js';
import { makeReport, type Report } from './report.js';
import { draw } from './seeded-draw.js';
import { VirtualClock } from './virtual-clock.js';

/** Copies added by `--scale` arrive within this time after the original. */
const SCATTER_MS = 60_000;

const NO_BUCKET = 'S3_BUCKET is not set here';

/** Options of a replay. */
export interface ReplaySettings {
  readonly window: Window;
  readonly without: readonly Target[];
  /** When `without` is removed; within the window. */
  readonly withoutSpan: Window;
  readonly faultKind: FaultKind;
  /** Traffic multiplier. */
  readonly scale: number;
  /** Factor by which requests arrive faster. */
  readonly speed: number;
  readonly bounds: Bounds;
}

/** Thrown when there is nothing to replay. The message is for the operator. */
export class ReplayError extends Error {
  override readonly name = 'ReplayError';
}

/**
 * Replays a window of the request log with and without a change and compares the results. Reads in one
 * read-only transaction.
 *
 * @throws ReplayError when the window has no requests or a provider is unknown
 */
export async function runReplay(
  replay: ReplaySettings,
  config: AppConfig,
  note: (line: string) => void,
): Promise<Report> {
  const embedded =
    config.databaseUrl === undefined
      ? await attachEmbeddedPostgres({ dataDirectory: config.dataDirectory, log: note })
      : undefined;
  try {
    const client = await connect(config.databaseUrl ?? embedded!.url);
    const bucket = new ArchiveBucket(config);
    try {
      await beginReading(client);
      const archive = new RequestLogArchive(bucket);
      return await compare({ replay, config, client, archive }, note);
    } catch (error) {
      throw error instanceof ArchiveUnavailableError ? new ReplayError(error.message) : error;
    } finally {
      await client.end();
      await bucket.onApplicationShutdown();
    }
  } finally {
    await embedded?.stop();
  }
}

async function connect(url: string): Promise<Client> {
  const client = new pg.Client({
    connectionString: url,
    application_name: 'model-gateway replay',
    connectionTimeoutMillis: 10_000,
    keepAlive: true,
    options: '-c default_transaction_read_only=on',
  });
  // A lost connection also fails the current statement. Unhandled, the event would end the process.
  client.on('error', () => undefined);
  await client.connect();
  return client;
}

interface Sources {
  readonly replay: ReplaySettings;
  readonly config: AppConfig;
  readonly client: Client;
  readonly archive: RequestLogArchive;
}

async function compare(sources: Sources, note: (line: string) => void): Promise<Report> {
  const startMs = performance.now();
  const { replay, config, client, archive } = sources;
  const { window, without } = replay;
  const span = { start: window.from, end: window.to };
  const files = await archive.filesIn(client, span);
  const isRead = files.length > 0 && config.s3 !== undefined;
  const archived = isRead ? await ArchivedWindow.find(client, archive, span) : undefined;
  const unread = isRead ? 0 : files.length;
  const vendors = new LearnedVendors();
  const logged = new Logged();
  for await (const rows of rowsOf(client, window, archived)) {
    for (const row of rows) {
      vendors.learn(row);
      logged.note(row);
    }
  }
  if (vendors.rows === 0) throw new ReplayError(emptyWindow(window, unread));
  note(`${vendors.rows} requests were read. Replaying them.`);
  const spentSince = async (since: Span): Promise<Spent> =>
    isRead ? (await ArchivedWindow.find(client, archive, since)).spent() : new Map();
  const environment = await readEnvironment(client, window, vendors, spentSince);
  const faults = new Faults(without, replay.faultKind, replay.withoutSpan);
  const comparison = new Comparison(window);
  const { before, after, notPlayed } = await play(
    { ...sources, archived, environment, vendors, faults },
    comparison,
  );
  const fault = before.fault ?? after.fault;
  if (fault !== undefined) throw toError(fault);
  const notMet = without.filter(({ text }) => !faults.met.has(text));
  const warnings = [
    ...notMet.map(({ text }) => `no request went to ${text}, so removing it had no effect.`),
    ...(unread > 0
      ? [
          `parts of the window may be in the archive (${unread} files), which cannot be read: ${NO_BUCKET}.`,
        ]
      : []),
  ];
  return makeReport({
    ...{ window, comparison, logged, notPlayed, warnings },
    changes: describeChanges(replay),
    calls: after.calls,
    withOptions: vendors.rowsWithOptions,
    tenantNames: environment.tenantNames,
    passed: passedBounds(replay.bounds, comparison),
    seconds: (performance.now() - startMs) / 1_000,
  });
}

interface Setting extends Sources {
  readonly archived: ArchivedWindow | undefined;
  readonly environment: ReplayEnvironment;
  readonly vendors: LearnedVendors;
  readonly faults: Faults;
}

/** Runs both replays side by side, so that a request is held only until the second has finished it. */
async function play(setting: Setting, comparison: Comparison) {
  const { replay, config, client, archived, environment, vendors, faults } = setting;
  const { window, scale, speed } = replay;
  const fromMs = window.from.getTime();
  let notPlayed = 0;
  const open = (which: 'before' | 'after') => {
    const isAfter = which === 'after';
    const clock = new VirtualClock(fromMs);
    const time = new ReplayTime(clock, fromMs, isAfter ? speed : 1);
    const onEnd = (result: ReplayResult): void => {
      if (isAfter && !result.isPlayed) notPlayed++;
      comparison.note(which, result);
    };
    const replayConfig = new ReplayConfig(config, environment, vendors.providers);
    const options = { environment, vendors, time, onEnd, config: replayConfig };
    const limits = new ReplayLimits(clock, scale > 1 || speed > 1);
    const replay = new Replay(isAfter ? { ...options, faults, limits } : options);
    return { clock, time, replay };
  };
  const before = open('before');
  const after = open('after');
  for await (const rows of rowsOf(client, window, archived)) {
    for (const row of rows) {
      before.replay.schedule(row, row.createdAt.getTime());
      for (const [copy, atMs] of arrivalsOf(row, scale)) after.replay.schedule(row, atMs, copy);
    }
    const readMs = rows.at(-1)!.createdAt.getTime();
    for (const { clock, time } of [before, after]) await clock.advanceTo(time.of(readMs));
  }
  await before.clock.finish();
  await after.clock.finish();
  return { before: before.replay, after: after.replay, notPlayed };
}

/** Yields the arrivals of a request and its copies. With `--scale` below 1 it may not arrive at all. */
function* arrivalsOf(row: WindowRow, scale: number): Generator<[copy: number, atMs: number]> {
  const atMs = row.createdAt.getTime();
  const part = scale % 1;
  const isLucky = part > 0 && draw('scale', row.requestId) < part;
  const times = Math.floor(scale) + (isLucky ? 1 : 0);
  for (let copy = 0; copy < times; copy++) {
    yield [copy, copy === 0 ? atMs : atMs + draw('copy', row.requestId, copy) * SCATTER_MS];
  }
}

function describeChanges({
  without,
  faultKind,
  withoutSpan,
  scale,
  speed,
}: ReplaySettings): string[] {
  const span = `from ${withoutSpan.from.toISOString()} to ${withoutSpan.to.toISOString()}`;
  const changes = without.map(({ text }) => `without ${text} (${faultKind}) ${span}`);
  if (scale !== 1) changes.push(`${scale} times the traffic`);
  if (speed !== 1) changes.push(`requests ${speed} times as fast`);
  return changes.length > 0 ? changes : ['without any change'];
}

function emptyWindow({ from, to }: Window, unread: number): string {
  const where =
    unread > 0
      ? `; ${unread} files of the archive may contain some but cannot be read: ${NO_BUCKET}`
      : '';
  return `the log has no requests from ${from.toISOString()} to ${to.toISOString()}${where}`;
}
