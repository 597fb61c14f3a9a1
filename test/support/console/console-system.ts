import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import type { Browser, BrowserContext } from 'playwright-core';
import { attachEmbeddedPostgres } from '../../../src/platform/database/embedded-postgres.js';
import { createTestDatabase } from '../test-database.js';

const SEED_LIMIT_MS = 1_200_000;
const CHOOSES = 'suite_chooses_tenant';

/** The users of the console. */
export const ROLES = ['operator', 'owner', 'viewer', 'newcomer'] as const;
export type ConsoleRole = (typeof ROLES)[number];

/** Written by `bench/scale/seed-console.mjs` about the system it creates. */
interface SystemFacts {
  adminKey: string;
  acme: { id: string; routingKey: string; managementKey: string };
  newcomer: { routingKey: string; managementKey: string };
  /** Session tokens by the person's role. */
  sessions: Record<'owner' | 'developer' | 'viewer' | 'billing' | 'admin' | 'auditor', string>;
  rows: number;
}

/** A gateway seeded with data, as if it had been in use. */
export interface ConsoleSystem extends SystemFacts {
  url: string;
  /** Fills in the ids for `$acme` and `$request` in a path. */
  address(path: string): string;
  /** Queries the database. */
  query<Row extends pg.QueryResultRow>(statement: string, values?: unknown[]): Promise<Row[]>;
  /** Opens a browser context that is not logged in. */
  openContext(browser: Browser): Promise<BrowserContext>;
  /** Logs out, then logs in as the role, if any. */
  logIn(context: BrowserContext, role: ConsoleRole | undefined): Promise<void>;
  close(): Promise<void>;
}

/**
 * Starts the system: in the data folder named by `CONSOLE_DATA`, which is seeded if empty, or else with
 * a new database and 1,500 log rows.
 */
export async function startConsoleSystem(): Promise<ConsoleSystem> {
  const known = process.env.CONSOLE_DATA;
  const folder = known ?? (await mkdtemp(join(tmpdir(), 'gateway-console-')));
  const database = known === undefined ? await createTestDatabase() : undefined;
  const rows = process.env.CONSOLE_ROWS ?? '1500';
  const gateway = await startSeeded(['--data', folder, '--rows', rows], database?.url);
  const attached =
    database ?? (await attachEmbeddedPostgres({ dataDirectory: join(folder, 'data') }));
  const pool = new pg.Pool({ connectionString: attached.url, max: 2 });
  pool.on('error', () => undefined);
  const facts = JSON.parse(
    readFileSync(join(folder, 'console-system.json'), 'utf8'),
  ) as SystemFacts;
  // Sessions in a folder seeded yesterday have expired.
  await pool.query(
    `UPDATE sessions SET expires_at = now() + interval '12 hours', last_seen_at = now(), revoked_at = NULL
     WHERE person_id IS NOT NULL`,
  );
  const {
    rows: [request],
  } = await pool.query<{ request_id: string }>(
    `SELECT request_id FROM request_logs WHERE tenant_id = $1 AND cost > 0 ORDER BY created_at DESC LIMIT 1`,
    [facts.acme.id],
  );
  return {
    ...facts,
    url: gateway.url,
    address: (path) =>
      path.replace('$acme', facts.acme.id).replace('$request', request!.request_id),
    async query<Row extends pg.QueryResultRow>(statement: string, values: unknown[] = []) {
      return (await pool.query<Row>(statement, values)).rows;
    },
    async openContext(browser) {
      const context = await browser.newContext({
        baseURL: gateway.url,
        reducedMotion: 'reduce',
        timezoneId: 'Europe/Berlin',
        locale: 'en-GB',
      });
      await chooseTenant(context, { id: facts.acme.id, name: 'acme' });
      return context;
    },
    async logIn(context, role) {
      await context.clearCookies();
      if (role !== undefined) await openSession(context, gateway.url, facts, role);
    },
    async close() {
      await pool.end();
      await gateway.stop();
      if (database) await database.drop();
      else if ('stop' in attached) await attached.stop();
      if (known === undefined) await rm(folder, { recursive: true, force: true });
    },
  };
}

async function openSession(
  context: BrowserContext,
  url: string,
  { sessions, newcomer }: SystemFacts,
  role: ConsoleRole,
): Promise<void> {
  if (role === 'newcomer') {
    const answer = await context.request.post('/v1/auth/key', {
      data: { key: newcomer.managementKey },
      headers: { origin: url },
    });
    if (!answer.ok()) throw new Error(`The newcomer cannot log in: ${await answer.text()}`);
    return;
  }
  const value = sessions[role === 'operator' ? 'admin' : role];
  if (role === 'operator') await context.addCookies([{ name: CHOOSES, value: 'true', url }]);
  await context.addCookies([
    { name: 'gateway_session', value, url, httpOnly: true, sameSite: 'Lax' },
  ]);
}

/** Selects the tenant whose pages an operator sees; the cookie marks operators. */
async function chooseTenant(
  context: BrowserContext,
  tenant: { id: string; name: string },
): Promise<void> {
  const chosen = {
    'gateway.person': 'person olga@operator.example',
    'gateway.tenant': JSON.stringify(tenant),
  };
  const content = Object.entries(chosen)
    .map((entry) => `sessionStorage.setItem(${entry.map((text) => JSON.stringify(text)).join()});`)
    .join('\n');
  await context.addInitScript({
    content: `if (document.cookie.includes('${CHOOSES}')) {\n${content}\n}`,
  });
}

async function startSeeded(
  parameters: string[],
  databaseUrl: string | undefined,
): Promise<{ url: string; stop(): Promise<void> }> {
  const child = spawn(process.execPath, ['bench/scale/seed-console.mjs', ...parameters], {
    env: {
      PATH: process.env.PATH ?? '',
      ...(databaseUrl !== undefined && { DATABASE_URL: databaseUrl }),
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let printed = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => (printed += chunk.toString()));
  }
  const exited = once(child, 'exit');
  const url = await new Promise<string>((resolve, reject) => {
    const fail = (): void => reject(new Error(`The console's gateway did not start:\n${printed}`));
    const timer = setTimeout(fail, SEED_LIMIT_MS);
    child.once('exit', fail);
    child.stdout.on('data', () => {
      const found = /listens on (\S+)/.exec(printed)?.[1];
      if (found === undefined) return;
      clearTimeout(timer);
      child.off('exit', fail);
      resolve(found);
    });
  });
  return {
    url,
    async stop() {
      child.kill('SIGTERM');
      await exited;
    },
  };
}
