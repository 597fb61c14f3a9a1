import { Logger } from '@nestjs/common';
import { afterAll, afterEach, beforeAll, expect, jest } from '@jest/globals';
import { randomBytes, randomUUID } from 'node:crypto';
import { GrantsService } from '../../src/core/ledger/grants.service.js';
import { openAccessServices, type AccessServices } from './access-services.js';
import { bootGateway, type BootedGateway } from './boot-gateway.js';
import { politeAnswer, startFakeOpenAi, type FakeAnswer, type FakeOpenAi } from './fake-openai.js';
import { writeOperatorFiles, type OperatorFiles } from './operator-files.js';
import { CHAT, CREDENTIALS } from './paths.js';
import { createTestDatabase, type TestDatabase } from './test-database.js';
import { until } from './until.js';

/** The key of shared capacity at the provider `one`. */
export const OPERATOR_KEY = 'operators-key-for-one';
const SECRET = 'the-secret-that-both-starts-share-and-more';

/** The fields of a stored credential that tests read. */
export interface Credential {
  id: string;
  key_preview: string;
  last_used_at: string | null;
}

export interface AccountOwner {
  id: string;
  key: string;
  managementKey: string;
}

export interface OwnAccounts {
  /** Stands in for every vendor. */
  readonly fake: FakeOpenAi;
  readonly gateway: BootedGateway;
  readonly access: AccessServices;
  /** The vendor's answer by key; other keys get a polite one. */
  readonly byKey: Map<string, FakeAnswer>;
  /** The service's log lines. */
  readonly logged: readonly string[];
  /** Boots another instance on the same database. */
  boot(environment?: Record<string, string>): Promise<BootedGateway>;
  /** The vendor keys of all calls. */
  keysSeen(): string[];
  newTenant(credits?: number): Promise<AccountOwner>;
  store(key: string, body: object): Promise<Credential>;
  /** Requests a chat completion with a tenant's key. */
  ask(key: string, fields?: object): Promise<Response>;
  /** Returns the log row of an answer, as its tenant sees it. */
  rowOf(response: Response, key: string): Promise<Record<string, unknown>>;
}

export const as = (key: string) => ({ authorization: `Bearer ${key}` });
export const vendorKey = (): string => `vendor-${randomBytes(16).toString('hex')}`;

/**
 * A gateway whose tenants may have BYOK accounts with providers that are configured, are not, and
 * cannot be. The result can be used from `beforeAll` on.
 */
export function setUpOwnAccounts(): OwnAccounts {
  let fake: FakeOpenAi;
  let files: OperatorFiles;
  let testDatabase: TestDatabase;
  let access: AccessServices;
  let gateway: BootedGateway;
  const byKey = new Map<string, FakeAnswer>();
  const logged: string[] = [];

  const boot = (environment: Record<string, string> = {}): Promise<BootedGateway> =>
    bootGateway(
      {
        ...files.environment,
        ONE_KEY: OPERATOR_KEY,
        OPENAI_BASE_URL: fake.baseUrl,
        ANTHROPIC_BASE_URL: new URL(fake.baseUrl).origin,
        GATEWAY_SECRET: SECRET,
        GATEWAY_ALLOW_PRIVATE_DESTINATIONS: 'true',
        ...environment,
      },
      { database: testDatabase },
    );

  beforeAll(async () => {
    for (const level of ['warn', 'error', 'log'] as const) {
      jest.spyOn(Logger.prototype, level).mockImplementation((...parts: unknown[]) => {
        logged.push(JSON.stringify(parts));
      });
    }
    fake = await startFakeOpenAi((call, response) => {
      const key =
        /^Bearer (.*)$/.exec(call.headers.authorization ?? '')?.[1] ??
        String(call.headers['api-key'] ?? call.headers['x-api-key'] ?? '');
      const answer = byKey.get(key) ?? politeAnswer({ promptTokens: 100, completionTokens: 50 });
      return answer(call, response);
    });
    const pricing = { prompt: '0.000001', completion: '0.000002' };
    files = await writeOperatorFiles(
      {
        one: { base_url: fake.baseUrl, api_key_env: 'ONE_KEY' },
        keyless: fake.baseUrl,
      },
      [
        { id: 'one/a', pricing },
        { id: 'one/b', pricing },
        { id: 'one/embedding', kind: 'embedding', pricing: { prompt: '0.000001' } },
        { id: 'keyless/a', pricing },
        { id: 'azure/deployed', pricing },
        { id: 'openai/own-only', pricing },
        { id: 'anthropic/own-only', pricing },
      ],
    );
    testDatabase = await createTestDatabase();
    access = await openAccessServices(testDatabase.url);
    gateway = await boot();
  });
  afterEach(() => {
    byKey.clear();
    fake.calls.length = 0;
  });
  afterAll(async () => {
    await gateway.close();
    await access.close();
    await testDatabase.drop();
    await files.remove();
    await fake.close();
    jest.restoreAllMocks();
  });

  return {
    get fake() {
      return fake;
    },
    get gateway() {
      return gateway;
    },
    get access() {
      return access;
    },
    byKey,
    logged,
    boot,
    keysSeen: () =>
      fake.calls.map(({ headers }) => String(headers.authorization ?? headers['api-key'])),
    async newTenant(credits = 1_000_000) {
      const id = await access.makeTenant(randomUUID());
      if (credits > 0) await new GrantsService(access.database).grant(id, credits);
      const { plaintext: key } = await access.makeKey({
        tenantId: id,
        rateLimitPerMinute: 100_000,
      });
      const { plaintext: managementKey } = await access.makeKey({
        tenantId: id,
        type: 'management',
      });
      return { id, key, managementKey };
    },
    async store(key, body) {
      const response = await gateway.post(CREDENTIALS, body, as(key));
      expect(response.status).toBe(201);
      return (await response.json()) as Credential;
    },
    ask: (key, fields = {}) => {
      const messages = [{ role: 'user', content: 'Hello' }];
      return gateway.post(CHAT, { model: 'one/a', messages, ...fields }, as(key));
    },
    async rowOf(response, key) {
      await response.text().catch(() => '');
      const requestId = response.headers.get('x-request-id');
      let row: Record<string, unknown> | undefined;
      await until(async () => {
        const listed = await gateway.fetch('/v1/customer/logs', { headers: as(key) });
        const { logs } = (await listed.json()) as { logs: Record<string, unknown>[] };
        row = logs.find((each) => each.request_id === requestId);
        return row !== undefined;
      });
      return row!;
    },
  };
}
