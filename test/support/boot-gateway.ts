import { ConsoleLogger } from '@nestjs/common';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Caller } from '../../src/core/access/caller.js';
import { hashApiKey } from '../../src/core/access/api-key.js';
import { loadSettings } from '../../src/app/load-settings.js';
import type { AppConfig } from '../../src/platform/config/app-config.js';
import type { Database } from '../../src/platform/database/database.js';
import { startGateway, type Gateway } from '../../src/app/gateway.js';
import { createTestDatabase, type TestDatabase } from './test-database.js';

export interface BootedGateway {
  url: string;
  apiKey: string;
  managementKey: string;
  adminKey: string;
  tenantId: string;
  database: Database;
  gateway: Gateway;
  config: AppConfig;
  /** Calls with the routing key, unless the options set another. */
  fetch(path: string, options?: RequestInit): Promise<Response>;
  /** Calls with the admin key; a body is sent as JSON. */
  admin(method: string, path: string, body?: unknown): Promise<Response>;
  /** POSTs JSON with the routing key. */
  post(path: string, body: unknown, headers?: Record<string, string>): Promise<Response>;
  close(): Promise<void>;
}

/**
 * Boots the whole built service on a free loopback port, with its own database.
 *
 * @param environment more settings
 * @param options.database an existing database to use
 */
export async function bootGateway(
  environment: Record<string, string> = {},
  options: { database?: TestDatabase } = {},
): Promise<BootedGateway> {
  const own = options.database ?? (await createTestDatabase());
  const dataDirectory = await mkdtemp(join(tmpdir(), 'gateway-e2e-'));
  const apiKey = environment.GATEWAY_BOOTSTRAP_API_KEY ?? `sk-${randomBytes(20).toString('hex')}`;
  const managementKey = `sk-mgmt-${randomBytes(20).toString('hex')}`;
  const adminKey = environment.GATEWAY_ADMIN_KEY ?? `sk-admin-${randomBytes(20).toString('hex')}`;
  const config = loadSettings({
    PORT: '0',
    HOST: '127.0.0.1',
    DATABASE_URL: own.url,
    // No test calls a real vendor.
    OPENAI_BASE_URL: 'http://127.0.0.1:9/v1',
    GATEWAY_DATA_DIR: dataDirectory,
    // A database accepts no other secret, and tests boot several instances on one.
    GATEWAY_SECRET: 'the-secret-of-every-gateway-under-test',
    GATEWAY_BOOTSTRAP_API_KEY: apiKey,
    GATEWAY_BOOTSTRAP_MANAGEMENT_KEY: managementKey,
    GATEWAY_ADMIN_KEY: adminKey,
    GATEWAY_BOOTSTRAP_RATE_LIMIT_PER_MINUTE: '100000',
    GATEWAY_MANAGEMENT_RATE_LIMIT_PER_MINUTE: '100000',
    GATEWAY_SANDBOX: 'true',
    // Fakes count their calls.
    GATEWAY_CHECK_KEYS: 'off',
    ...environment,
  });
  const gateway = await startGateway(config, new ConsoleLogger({ logLevels: ['fatal'] }));
  const tenantId = await tenantOf(own.database, apiKey);
  const call = (path: string, init: RequestInit = {}): Promise<Response> =>
    fetch(gateway.url + path, {
      ...init,
      headers: { authorization: `Bearer ${apiKey}`, ...(init.headers as Record<string, string>) },
    });
  return {
    url: gateway.url,
    apiKey,
    managementKey,
    adminKey,
    tenantId,
    database: own.database,
    gateway,
    config,
    fetch: call,
    admin: (method, path, body) =>
      call(path, {
        method,
        headers: { authorization: `Bearer ${adminKey}`, 'content-type': 'application/json' },
        body: body === undefined ? undefined : JSON.stringify(body),
      }),
    post: (path, body, headers = {}) =>
      call(path, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      }),
    async close() {
      await gateway.close();
      if (!options.database) await own.drop();
      await rm(dataDirectory, { recursive: true, force: true });
    },
  };
}

async function tenantOf(database: Database, apiKey: string): Promise<Caller['tenantId']> {
  const { rows } = await database.query<{ tenant_id: string }>(
    "SELECT tenant_id FROM api_keys WHERE key_hash = decode($1, 'hex')",
    [hashApiKey(apiKey)],
  );
  return rows[0]!.tenant_id;
}
