import { requestLogRow } from './request-log-rows.js';
import { toError } from '../../src/platform/errors/thrown.js';
import { loadSettings } from '../../src/app/load-settings.js';
import { Faults, readTarget, type FaultKind } from '../../src/operator/replay/faults.js';
import { LearnedVendors } from '../../src/operator/replay/learned-vendors.js';
import type { Window, WindowRow } from '../../src/operator/replay/log-window.js';
import { ReplayConfig } from '../../src/operator/replay/replay-config.js';
import { ReplayLimits } from '../../src/operator/replay/replay-limits.js';
import { ReplayTime } from '../../src/operator/replay/replay-time.js';
import { Replay } from '../../src/operator/replay/replay.js';
import type { ReplayResult } from '../../src/operator/replay/replay-result.js';
import type { ReplayWorld } from '../../src/operator/replay/replay-environment.js';
import { VirtualClock } from '../../src/operator/replay/virtual-clock.js';
import type { LoggedAttempt } from '../../src/core/request-log/request-log-row.js';
import type { AppConfig } from '../../src/platform/config/app-config.js';
import type { JsonObject } from '../../src/platform/http/json-body.js';

export const TENANT = '11111111-1111-4111-8111-111111111111';
export const KEY = '22222222-2222-4222-8222-222222222222';
export const WINDOW: Window = {
  from: new Date('2026-01-13T00:00:00Z'),
  to: new Date('2026-01-14T00:00:00Z'),
};
export const MODEL = 'openai/gpt-x';

/** A token costs 1 credit in and 2 out at openai, and 2 and 3 at azure. */
export const CATALOGUE_ROW: JsonObject = {
  id: MODEL,
  kind: 'chat',
  name: 'GPT X',
  pricing: { prompt: '0.000001', completion: '0.000002', request: '0', image: '0' },
  routes: [
    { provider: 'openai', model: 'gpt-x', priority: 0 },
    {
      provider: 'azure',
      model: 'gpt-x',
      priority: 1,
      pricing: { prompt: '0.000002', completion: '0.000003' },
    },
  ],
};

export function attempt(fields: Partial<LoggedAttempt> = {}): LoggedAttempt {
  return {
    route: `openai/${MODEL}`,
    outcome: 'answered',
    status: 200,
    started_ms: 5,
    duration_ms: 1_005,
    vendor_cost: 0,
    ...fields,
  };
}

/** 1,000 tokens in and 500 out, answered by openai from 205 to 1,005 ms after arrival, for 2,000 credits. */
export function windowRow(atMs: number, fields: Partial<WindowRow> = {}): WindowRow {
  return {
    ...requestLogRow({
      apiKeyId: KEY,
      model: MODEL,
      provider: 'openai',
      promptTokens: 1_000,
      completionTokens: 500,
      cost: 2_000,
      vendorCost: 2_000,
      streamed: true,
      firstTokenMs: 205,
      latencyMs: 1_005,
      generationTimeMs: 800,
      attempts: [attempt()],
      configVersion: 1,
      createdAt: new Date(WINDOW.from.getTime() + atMs),
    }),
    tenantId: TENANT,
    ...fields,
  };
}

/** The same by azure, which takes 300 ms to the first content and another 1,000 ms to the end. */
export function azureRow(atMs: number, fields: Partial<WindowRow> = {}): WindowRow {
  return windowRow(atMs, {
    provider: 'azure',
    cost: 3_500,
    vendorCost: 3_500,
    firstTokenMs: 305,
    latencyMs: 1_305,
    generationTimeMs: 1_000,
    attempts: [attempt({ route: `azure/${MODEL}` })],
    ...fields,
  });
}

export function replayWorld(fields: Partial<ReplayWorld> = {}): ReplayWorld {
  return {
    callers: new Map(),
    tenantNames: new Map([[TENANT, 'acme']]),
    tenantBalances: {
      balances: new Map([[TENANT, 1_000_000_000]]),
      tenantLimits: new Map(),
      keyLimits: new Map(),
    },
    movements: [],
    credentials: new Map(),
    versions: new Map([
      [
        1,
        {
          number: 1,
          document: { models: [], providers: [], settings: {} },
          catalogue: new Map([[MODEL, CATALOGUE_ROW]]),
        },
      ],
    ]),
    latestVersion: 1,
    cachedSheets: new Set(),
    ...fields,
  };
}

interface ReplayedWindow {
  world?: Partial<ReplayWorld>;
  /** The provider to remove. */
  without?: string;
  kind?: FaultKind;
  span?: Window;
  /** Considers limits of open requests, and with `minutes` also limits per minute. */
  limits?: 'open' | 'minutes';
  speed?: number;
  copies?: number;
  /** Ids of openai's accounts, if there are several. */
  accounts?: readonly string[];
  /** Additional rows for learning about vendors. */
  learned?: readonly WindowRow[];
}

/** Replays rows. @returns their outcomes in order, and the calls to vendors */
export async function replayRows(
  rows: readonly WindowRow[],
  {
    world: fields,
    without,
    kind = '503',
    span = WINDOW,
    copies = 1,
    speed = 1,
    limits,
    ...options
  }: ReplayedWindow = {},
) {
  const environment = replayWorld(fields);
  const vendors = new LearnedVendors();
  for (const row of [...rows, ...(options.learned ?? [])]) vendors.learn(row);
  const clock = new VirtualClock(WINDOW.from.getTime());
  const results: ReplayResult[] = [];
  const target = without === undefined ? undefined : readTarget(without);
  const replay = new Replay({
    world: environment,
    vendors,
    time: new ReplayTime(clock, WINDOW.from.getTime(), speed),
    config: new ReplayConfig(
      settingsWith(options.accounts),
      environment,
      new Set([...vendors.providers, 'azure']),
    ),
    ...(target && { faults: new Faults([target], kind, span) }),
    ...(limits && { limits: new ReplayLimits(clock, limits === 'minutes') }),
    onEnd: (result) => results.push(result),
  });
  for (const row of rows) {
    for (let copy = 0; copy < copies; copy++) replay.schedule(row, row.createdAt.getTime(), copy);
  }
  await clock.finish();
  if (replay.fault !== undefined) throw toError(replay.fault);
  const byId = new Map(results.map((result) => [`${result.row.requestId}${result.copy}`, result]));
  const ordered = rows.flatMap((row) =>
    Array.from({ length: copies }, (_, copy) => byId.get(`${row.requestId}${copy}`)!),
  );
  return { results: ordered, calls: replay.calls };
}

function settingsWith(accounts: readonly string[] | undefined): AppConfig {
  const settings = loadSettings({ GATEWAY_SECRET: 'x'.repeat(32) });
  if (!accounts) return settings;
  const [standard] = settings.ownAccountProviders.filter(({ id }) => id === 'openai');
  return {
    ...settings,
    providers: [
      { ...standard!, accounts: accounts.map((id) => ({ id, weight: 1, apiKey: undefined })) },
    ],
  };
}
