import { createHmac, randomUUID } from 'node:crypto';
import { Logger } from '@nestjs/common';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  it,
  jest,
} from '@jest/globals';
import type { AlertKind, AlertOwner } from '../../src/core/alerts/alert.js';
import { BOOTSTRAP_AUTHOR } from '../../src/core/access/author.js';
import { AuditLog } from '../../src/core/audit/audit-log.js';
import type { Values } from '../../src/core/resources/resource.repository.js';
import { AlertDeliveries } from '../../src/core/alerts/alert-deliveries.service.js';
import { AlertEvaluator } from '../../src/core/alerts/alert-evaluator.service.js';
import { AlertEventRepository } from '../../src/core/alerts/alert-event.repository.js';
import { AlertRuleEntity } from '../../src/core/alerts/alert-rule.entity.js';
import { AlertRuleRepository } from '../../src/core/alerts/alert-rule.repository.js';
import { AlertSender } from '../../src/core/alerts/alert-sender.js';
import { PriceWatch } from '../../src/operator/price-lists/price-watch.service.js';
import { CatalogueService } from '../../src/core/catalogue/catalogue.service.js';
import { DueWork } from '../../src/platform/database/due-work.js';
import { GatewayMetrics } from '../../src/platform/metrics/gateway-metrics.js';
import { OutboundClient } from '../../src/platform/outbound/outbound-client.js';
import { OPERATOR_ID, WebhookSecrets } from '../../src/platform/outbound/webhook-secrets.js';
import { rollUpAll } from '../support/roll-up-all.js';
import { createTenant, type TestTenant } from '../support/ledger-factories.js';
import { insertRequestLogRow } from '../support/request-log-rows.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { until } from '../support/until.js';
import { startReceiver } from '../support/webhook-receiver.js';

const SECRET = 'a-secret-of-at-least-32-characters';
const SETTINGS = { secret: SECRET, secretFile: undefined, previousSecrets: [], dataDirectory: '' };
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

interface Sent {
  type: string;
  created_at: number;
  data: { alert_id: string; kind: string; subject: string; message: string; threshold: string };
}

describe('alerts', () => {
  let test: TestDatabase;
  let receiver: Awaited<ReturnType<typeof startReceiver>>;
  let client: OutboundClient;
  let secrets: WebhookSecrets;
  let events: AlertEventRepository;
  let rules: AlertRuleRepository;
  let tenant: TestTenant;
  /** The evaluator's current time; each test uses different hours. */
  let now: Date;

  /** The evaluator and the deliveries of one process. */
  const instance = (outbound = client) => {
    const config = { queue: { consume: true } };
    const metrics = new GatewayMetrics();
    const sender = new AlertSender(outbound, secrets);
    const deliveries = new AlertDeliveries(
      events,
      rules,
      sender,
      new DueWork(test.database),
      config,
      metrics,
    );
    const evaluator = new AlertEvaluator(test.database, deliveries, config, metrics);
    return { deliveries, evaluator, metrics };
  };
  let one: ReturnType<typeof instance>;
  let other: ReturnType<typeof instance>;

  beforeAll(async () => {
    test = await createTestDatabase();
    receiver = await startReceiver();
    client = new OutboundClient({ allowPrivate: true });
    secrets = new WebhookSecrets(SECRET, test.database);
    events = new AlertEventRepository(test.database);
    rules = new AlertRuleRepository(
      test.dataSource.getRepository(AlertRuleEntity),
      test.database,
      new AuditLog(),
      SETTINGS,
    );
    // Not at the end of an hour: alerts are repeated at most once per clock hour.
    now = new Date(Math.floor(Date.now() / HOUR_MS) * HOUR_MS + 10 * MINUTE_MS);
  });
  beforeEach(async () => {
    one = instance();
    other = instance();
    // Excludes tenants of other tests from rules.
    await test.database.query('UPDATE accounts SET granted = 0');
    tenant = await createTenant(test.database, 1_000);
    receiver.posts.length = 0;
    receiver.answers.status = 200;
    receiver.answers.headers = {};
    receiver.answers.delayMs = 0;
    later(3 * HOUR_MS);
  });
  afterEach(async () => {
    await one.deliveries.beforeApplicationShutdown();
    await other.deliveries.beforeApplicationShutdown();
    for (const table of [
      'alert_rules',
      'alert_events',
      'alert_minutes',
      'request_logs',
      'budget_spend',
      'limit_holds',
    ]) {
      await test.database.query(`DELETE FROM ${table}`);
    }
  });
  afterAll(async () => {
    await client.onApplicationShutdown();
    await receiver.close();
    await test.drop();
  });

  const later = (ms = 15_000) => (now = new Date(now.getTime() + ms));
  const addRule = async (
    kind: AlertKind,
    condition: AlertRuleEntity['condition'],
    {
      owner = tenant.tenantId,
      url = `${receiver.url}/hook`,
      ...change
    }: Values<AlertRuleEntity> & { owner?: AlertOwner; url?: string } = {},
  ): Promise<string> => {
    const id = randomUUID();
    const draft = {
      id,
      tenantId: owner,
      madeBy: 'management' as const,
      name: 'a rule',
      isEnabled: true,
      kind,
      condition,
      watchedTenantId: owner,
      format: 'webhook' as const,
      ...rules.encryptUrl(url, id),
      ...change,
    };
    await test.database.transaction((transaction) =>
      rules.insert(transaction, BOOTSTRAP_AUTHOR, draft, 100),
    );
    return id;
  };
  /** Evaluates on both instances, 15 seconds after the last time, and returns the deliveries. */
  const evaluate = async (): Promise<Sent[]> => {
    later();
    const before = receiver.posts.length;
    await Promise.all([one.evaluator.look(now), other.evaluator.look(now)]);
    await until(async () => (await states()).every((state) => state !== 'pending'));
    return receiver.posts.slice(before).map(({ body }) => JSON.parse(body) as Sent);
  };
  const types = async (): Promise<string[]> => (await evaluate()).map(({ type }) => type).sort();
  const states = async (): Promise<string[]> => {
    const { rows } = await test.database.query<{ state: string }>(
      'SELECT state FROM alert_events ORDER BY created_at, id',
    );
    return rows.map(({ state }) => state);
  };
  const setBalance = (credits: number) =>
    test.database.query('UPDATE accounts SET balance = $2, granted = 1000 WHERE tenant_id = $1', [
      tenant.tenantId,
      credits,
    ]);
  /** Inserts requests that have just ended into the log. */
  const log = async (outcomes: Record<string, number>, cost = 1): Promise<void> => {
    for (const [outcome, count] of Object.entries(outcomes)) {
      const row = {
        outcome: outcome as 'completed',
        status: outcome === 'completed' ? ('success' as const) : ('error' as const),
        createdAt: now,
        latencyMs: 0,
        cost,
        modelCharge: cost,
      };
      for (let each = 0; each < count; each++) {
        await insertRequestLogRow(test.database, tenant.tenantId, row);
      }
    }
    await rollUpAll(test.database);
  };

  describe('of a balance', () => {
    it('are sent once by two instances, and once when they are resolved', async () => {
      const id = await addRule('balance_below', { credits: 500 });
      expect(await types()).toEqual([]);
      await setBalance(499);
      const sent = await evaluate();
      expect(sent).toMatchObject([
        {
          type: 'alert.firing',
          data: {
            alert_id: id,
            kind: 'balance_below',
            subject: tenant.tenantId,
            message: 'The balance is 499 credits, less than 500.',
          },
        },
      ]);
      await setBalance(3);
      expect(await types()).toEqual([]);
      await setBalance(500);
      expect(await types()).toEqual(['alert.resolved']);
      expect(await types()).toEqual([]);
    });

    it('are sent again in another clock hour when they recur', async () => {
      await addRule('balance_below', { credits: 500 });
      await setBalance(1);
      expect(await types()).toEqual(['alert.firing']);
      await setBalance(500);
      expect(await types()).toEqual(['alert.resolved']);
      await setBalance(1);
      expect(await types()).toEqual([]);
      later(HOUR_MS);
      expect(await types()).toEqual(['alert.firing']);
    });

    it("are signed with the tenant's secret, and the operator's with its own", async () => {
      await setBalance(1);
      await addRule('balance_below', { credits: 500 });
      await addRule('balance_below', { credits: 400 }, { owner: null });
      await evaluate();
      const owners = new Map<string, string>();
      for (const { headers, body } of receiver.posts) {
        const [, time, sent] = /^t=(\d+),v1=(\w+)$/.exec(String(headers['x-gateway-signature']))!;
        for (const owner of [tenant.tenantId, OPERATOR_ID]) {
          const hmac = createHmac('sha256', (await secrets.secretOf(owner))!);
          if (hmac.update(`${time}.${body}`).digest('hex') === sent) owners.set(body, owner);
        }
        expect(headers['idempotency-key']).toBe((JSON.parse(body) as { id: string }).id);
      }
      expect([...owners.values()].sort()).toEqual([OPERATOR_ID, tenant.tenantId].sort());
    });

    it('of all tenants are sent to the operator with tenant names, twenty at once', async () => {
      await test.database.query('UPDATE accounts SET granted = 0');
      for (let each = 0; each < 24; each++) {
        const { tenantId } = await createTenant(test.database, 300);
        await test.database.query('UPDATE tenants SET name = $2 WHERE id = $1', [
          tenantId,
          `tenant ${tenantId}`,
        ]);
      }
      await addRule('balance_below', { credits: 500 }, { owner: null });
      const sent = await evaluate();
      expect(sent).toHaveLength(20);
      expect(sent[0]!.data.message).toBe(
        `The balance of tenant ${sent[0]!.data.subject} is 300 credits, less than 500.`,
      );
      const noted = await states();
      expect([noted.length, noted.filter((state) => state === 'dropped').length]).toEqual([24, 4]);
      expect(await evaluate()).toEqual([]);
    });
  });

  it('are accepted by the documented receiver, and forged ones are not', async () => {
    const text = await readFile('docs/alerts.md', 'utf8');
    const secret = (await secrets.secretOf(tenant.tenantId))!;
    const code = /```js\n(.*?)```/s
      .exec(text)![1]!
      .replace('process.env.WEBHOOK_SECRET', () => JSON.stringify(secret));
    const log = jest.spyOn(console, 'log').mockReturnValue();
    const { server } = (await import(`data:text/javascript,${encodeURIComponent(code)}`)) as {
      server: Server;
    };
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    await setBalance(1);
    await addRule('balance_below', { credits: 500 }, { url });
    await evaluate();
    expect(await states()).toEqual(['delivered']);
    expect(log).toHaveBeenCalledWith(
      'alert.firing',
      'a rule',
      expect.stringContaining('1 credits'),
    );
    for (const signature of ['', 't=1,v1=00', `t=${Math.floor(Date.now() / 1_000)},v1=00`]) {
      const forged = { method: 'POST', body: '{}', headers: { 'x-gateway-signature': signature } };
      expect((await fetch(url, forged)).status).toBe(401);
    }
    log.mockRestore();
    server.closeAllConnections();
    server.close();
  });

  describe('of a budget', () => {
    const spend = (credits: number) =>
      test.database.query(
        `INSERT INTO account_months (tenant_id, month, spent)
         VALUES ($1, date_trunc('month', $3::timestamptz AT TIME ZONE 'UTC'), $2)
         ON CONFLICT (tenant_id, month) DO UPDATE SET spent = excluded.spent`,
        [tenant.tenantId, credits, now],
      );

    it('are sent once for each threshold, and again in the next period', async () => {
      await test.database.query('UPDATE tenants SET monthly_spend_limit = 1000 WHERE id = $1', [
        tenant.tenantId,
      ]);
      await addRule('budget', { thresholds: [50, 80, 100], scope: null, scope_id: null });
      await spend(499);
      expect(await evaluate()).toEqual([]);
      await spend(500);
      expect((await evaluate()).map(({ data }) => data.threshold)).toEqual(['50']);
      await spend(1_000);
      expect((await evaluate()).map(({ data }) => data.threshold).sort()).toEqual(['100', '80']);
      expect(await evaluate()).toEqual([]);
      now = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1));
      expect(await evaluate()).toEqual([]);
      await spend(600);
      const [again, ...rest] = await evaluate();
      expect([again!.data.threshold, rest]).toEqual(['50', []]);
      expect(again!.data.message).toBe(
        'The month budget of the tenant has reached 50 %: 600 of 1,000 credits are spent.',
      );
    });

    it('are sent for each period, for keys and end users, including unaggregated spend', async () => {
      const { tenantId, apiKeyId } = tenant;
      await addRule('budget', { thresholds: [50], scope: null, scope_id: null });
      await addRule('budget', { thresholds: [60], scope: 'end_user', scope_id: 'ann' });
      const day = { budgets: [{ period: 'day', credits: 100 }] };
      await test.database.query('UPDATE api_keys SET operator_limits = $2 WHERE id = $1', [
        apiKeyId,
        { budgets: [...day.budgets, { period: 'total', credits: 1_000 }] },
      ]);
      await test.database.query('UPDATE tenants SET end_user_limits = $2 WHERE id = $1', [
        tenantId,
        day,
      ]);
      const keep = (scope: string, subject: string, spent: number) =>
        test.database.query(
          `INSERT INTO budget_spend (tenant_id, scope, subject, counted_at, hour, day, week, month, total)
           VALUES ($1, $2, $3, $4, $5, $5, $5, $5, 500)
           ON CONFLICT (tenant_id, scope, subject) DO UPDATE SET counted_at = $4, day = $5`,
          [tenantId, scope, subject, now, spent],
        );
      await keep('api_key', apiKeyId, 30);
      await keep('end_user', 'ann', 60);
      const states = async () =>
        (await evaluate()).map(
          ({ data }) => `${data.subject.replace(apiKeyId, 'key')} ${data.threshold}`,
        );
      expect((await states()).sort()).toEqual([
        'api_key:key:total 50',
        'end_user:ann:day 50',
        'end_user:ann:day 60',
      ]);
      const { requestId } = await insertRequestLogRow(test.database, tenantId, {
        cost: 25,
        modelCharge: 25,
        createdAt: now,
      });
      await test.database.query(
        `INSERT INTO limit_holds (tenant_id, scope, subject, request_id, opened_at)
         VALUES ($1, 'api_key', $2, $3, $4)`,
        [tenantId, apiKeyId, requestId, now],
      );
      expect(await states()).toEqual(['api_key:key:day 50']);
      expect(await states()).toEqual([]);
      later(24 * HOUR_MS);
      expect(await states()).toEqual([]);
      await keep('end_user', 'ann', 55);
      expect(await states()).toEqual(['end_user:ann:day 50']);
    });

    it('report 100 % when more than 80 % are spent and requests are refused', async () => {
      const { tenantId } = tenant;
      await test.database.query('UPDATE tenants SET limits = $2 WHERE id = $1', [
        tenantId,
        { budgets: [{ period: 'month', credits: 100 }] },
      ]);
      await test.database.query(
        `INSERT INTO budget_spend (tenant_id, scope, subject, counted_at, hour, day, week, month, total)
         VALUES ($1, 'tenant', $2, $3, 90, 90, 90, 90, 90)`,
        [tenantId, tenantId, now],
      );
      await addRule('budget', { thresholds: [100], scope: null, scope_id: null });
      expect(await evaluate()).toEqual([]);
      const refused = {
        outcome: 'refused',
        status: 'error',
        errorType: 'budget_exceeded',
      } as const;
      await insertRequestLogRow(test.database, tenantId, { ...refused, createdAt: now });
      expect((await evaluate()).map(({ data }) => data.threshold)).toEqual(['100']);
    });
  });

  describe('of errors', () => {
    const CONDITION = { percent: 20, window_minutes: 10, min_requests: 10, provider: null };

    it('are sent when enough requests of the window failed, and when that is over', async () => {
      await addRule('error_rate', CONDITION);
      expect(await evaluate()).toEqual([]);
      await log({ completed: 4, failed: 5 });
      expect(await evaluate()).toEqual([]);
      // Cancelled and refused requests do not count.
      await log({ completed: 1, cancelled: 3, refused: 90 });
      const sent = await evaluate();
      expect(sent).toMatchObject([{ type: 'alert.firing' }]);
      expect(sent[0]!.data.message).toBe('50 % of 10 requests failed in 10 minutes.');
      expect(await evaluate()).toEqual([]);
      await log({ completed: 40 });
      expect(await types()).toEqual(['alert.resolved']);
    });

    it('count only the key of a scoped rule and its descendants, until the key ends', async () => {
      const { tenantId, apiKeyId } = tenant;
      const insertKey = async (ancestorIds: string[]): Promise<string> => {
        const { rows } = await test.database.query<{ id: string }>(
          `INSERT INTO api_keys (tenant_id, type, name, key_hash, key_preview, rate_limit_per_minute, ancestor_ids)
           VALUES ($1, 'routing', 'key', sha256(gen_random_uuid()::text::bytea), 'sk-', 1, $2) RETURNING id`,
          [tenantId, ancestorIds],
        );
        return rows[0]!.id;
      };
      const scope = await insertKey([]);
      const below = await insertKey([scope]);
      const fail = async (key: string) => {
        for (let each = 0; each < 5; each++) {
          await insertRequestLogRow(test.database, tenantId, {
            ...{ apiKeyId: key, outcome: 'failed', status: 'error', createdAt: now, latencyMs: 0 },
          });
        }
      };
      await addRule('error_rate', CONDITION, { scopeKeyId: scope });
      for (const key of [apiKeyId, apiKeyId, scope]) await fail(key);
      expect(await evaluate()).toEqual([]);
      await fail(below);
      expect(await types()).toEqual(['alert.firing']);
      await test.database.query('DELETE FROM alert_events');
      await test.database.query('UPDATE api_keys SET revoked_at = now() WHERE id = $1', [scope]);
      expect(await evaluate()).toEqual([]);
    });

    it('are resolved when the window has passed', async () => {
      await addRule('error_rate', CONDITION);
      await evaluate();
      await log({ timeout: 10 });
      expect(await types()).toEqual(['alert.firing']);
      for (let minutes = 0; minutes < 12; minutes += 4) {
        later(4 * MINUTE_MS);
        await one.evaluator.look(now);
      }
      await until(() => receiver.posts.length === 2);
      expect(receiver.posts[1]!.body).toContain('alert.resolved');
    });

    it('count over all tenants for the operator, optionally at one provider', async () => {
      await addRule('error_rate', { ...CONDITION, provider: 'sandbox' }, { owner: null });
      await addRule('error_rate', { ...CONDITION, provider: 'other' }, { owner: null });
      await addRule('error_rate', { ...CONDITION, percent: 30 }, { owner: null });
      await evaluate();
      await log({ failed: 5 });
      tenant = await createTenant(test.database, 0);
      await log({ failed: 5 });
      const sent = await evaluate();
      expect(sent.map(({ data }) => data.threshold).sort()).toEqual(['20', '30']);
    });
  });

  describe('of spend', () => {
    const inWeek = (week: number, hoursBack: number, cost: number) =>
      test.database.query(
        `INSERT INTO request_log_roll_ups (tenant_id, dimension, grain, period, value, requests, errors,
           prompt_tokens, completion_tokens, cost, latencies)
         VALUES ($1, 'all', 'hour', date_trunc('hour', $2::timestamptz, 'UTC')
           - make_interval(weeks => $3, hours => $4), '', 1, 0, 0, 0, $5, '{0}')`,
        [tenant.tenantId, now, week, hoursBack, cost],
      );
    const bornBefore = (days: number) =>
      test.database.query(
        `UPDATE tenants SET created_at = $2::timestamptz - make_interval(days => $3) WHERE id = $1`,
        [tenant.tenantId, now, days],
      );

    it('are sent when an hour costs a multiple of the same hours of recent weeks', async () => {
      await addRule('spend_unusual', { factor: 3, floor_credits: 100 });
      await evaluate();
      await bornBefore(60);
      // The median is 100: one outlier changes nothing, and neither does an empty week.
      await inWeek(1, 0, 90);
      await inWeek(1, 1, 100);
      await inWeek(2, 0, 100);
      await inWeek(3, 1, 10_000);
      await log({ completed: 3 }, 100);
      expect(await evaluate()).toEqual([]);
      await log({ completed: 1 }, 1);
      const sent = await evaluate();
      expect(sent.map(({ data }) => data.message)).toEqual([
        '301 credits were spent in an hour; usual at this time are 100.',
      ]);
      expect(await evaluate()).toEqual([]);
      later(2 * HOUR_MS);
      expect(await types()).toEqual(['alert.resolved']);
    });

    it('have a floor, which alone applies to a tenant without history', async () => {
      await addRule('spend_unusual', { factor: 3, floor_credits: 100 });
      await addRule('spend_unusual', { factor: 2, floor_credits: 100 }, { owner: null });
      await evaluate();
      await log({ completed: 1 }, 99);
      expect(await evaluate()).toEqual([]);
      await log({ completed: 1 }, 1);
      expect(await types()).toEqual(['alert.firing', 'alert.firing']);
    });
  });

  describe('whose receiver', () => {
    const eventOf = async () => (await events.list(tenant.tenantId, { limit: 1 }))[0];
    const fire = async (url = `${receiver.url}/hook`): Promise<string> => {
      await setBalance(1);
      const id = await addRule('balance_below', { credits: 500 }, { url });
      later();
      await one.evaluator.look(now);
      return id;
    };

    it('fails are retried, and report it until then', async () => {
      receiver.answers.status = 500;
      await fire();
      await until(async () => (await eventOf())?.lastError === 'answered with status 500');
      expect(await eventOf()).toMatchObject({ state: 'pending', attempts: 1 });
      receiver.answers.status = 200;
      await until(async () => (await eventOf())?.state === 'delivered');
      const keys = receiver.posts.map(({ headers }) => headers['idempotency-key']);
      expect([keys.length, new Set(keys).size]).toEqual([2, 1]);
    });

    it('redirects are dropped, and the target gets nothing', async () => {
      receiver.answers.status = 302;
      receiver.answers.headers = { location: `${receiver.url}/elsewhere` };
      await fire();
      await until(async () => (await eventOf())?.state === 'dropped');
      expect(await eventOf()).toMatchObject({ lastError: 'redirects, which is not followed' });
      expect(receiver.posts.map(({ path }) => path)).toEqual(['/hook']);
    });

    it('is internal are dropped without a connection', async () => {
      const outside = new OutboundClient({ allowPrivate: false });
      one = instance(outside);
      await fire();
      await until(async () => (await eventOf())?.state === 'dropped');
      expect((await eventOf())?.lastError).toContain('public address');
      expect(receiver.posts).toEqual([]);
      await outside.onApplicationShutdown();
    });

    it('is slow delay no others', async () => {
      receiver.answers.delayMs = 60_000;
      await fire();
      await until(() => receiver.posts.length === 1);
      receiver.answers.delayMs = 0;
      await addRule('balance_below', { credits: 400 });
      later();
      await one.evaluator.look(now);
      await until(async () => (await states()).includes('delivered'));
      expect(await states()).toContain('pending');
      await one.deliveries.beforeApplicationShutdown();
      expect(await eventOf()).toBeDefined();
      await test.database.query("UPDATE alert_events SET woken_at = now() - interval '1 minute'");
      await other.deliveries.sweep();
      await until(async () => !(await states()).includes('pending'));
    });

    it('were not reached before the process died are delivered by another process, once', async () => {
      await setBalance(1);
      await addRule('balance_below', { credits: 500 });
      // The process dies right after its commit.
      one.deliveries.deliver = () => undefined;
      later();
      await one.evaluator.look(now);
      expect(await states()).toEqual(['pending']);
      await other.deliveries.sweep();
      expect(receiver.posts).toEqual([]);
      await test.database.query("UPDATE alert_events SET woken_at = now() - interval '1 minute'");
      one = instance();
      await Promise.all([other.deliveries.sweep(), one.deliveries.sweep()]);
      await other.deliveries.sweep();
      await until(async () => (await states())[0] === 'delivered');
      expect(receiver.posts).toHaveLength(1);
    });

    it('belongs to a deleted rule gets nothing', async () => {
      receiver.answers.status = 500;
      const id = await fire();
      await until(async () => (await eventOf())?.attempts === 1);
      await test.database.transaction(async (transaction) =>
        rules.remove(transaction, BOOTSTRAP_AUTHOR, await rules.find(tenant.tenantId, id)),
      );
      expect(await eventOf()).toMatchObject({
        state: 'dropped',
        lastError: 'the rule was deleted',
      });
      const second = await fire();
      await until(() => receiver.posts.length === 2);
      // As when its tenant is deleted.
      await test.database.query('DELETE FROM alert_rules WHERE id = $1', [second]);
      await until(async () => (await eventOf())?.state === 'dropped');
      expect(receiver.posts).toHaveLength(2);
    });

    it('is Slack gets text and blocks, without a signature and with an escaped name', async () => {
      await setBalance(1);
      await addRule(
        'balance_below',
        { credits: 500 },
        { format: 'slack', name: '<!channel> &\nFiring: *co* \u202Ehttp://evil.example' },
      );
      later();
      await one.evaluator.look(now);
      await until(() => receiver.posts.length === 1);
      const [{ headers, body }] = receiver.posts as [(typeof receiver.posts)[number]];
      expect(headers['x-gateway-signature']).toBeUndefined();
      expect(JSON.parse(body)).toMatchObject({
        text: 'Firing: &lt;!channel&gt; &amp; Firing: *co* http://evil.example. The balance is 1 credits, less than 500.',
        mrkdwn: false,
      });
      const { blocks } = JSON.parse(body) as { blocks: object[] };
      // Text from tenants is never markup.
      expect(JSON.stringify(blocks)).not.toContain('mrkdwn');
      expect(JSON.stringify(blocks)).not.toMatch(/\\n|\u202e/);
    });
  });

  it('of rules that were disabled or changed meanwhile are dropped', async () => {
    await setBalance(1);
    const id = await addRule('balance_below', { credits: 500 }, { isEnabled: false });
    expect(await evaluate()).toEqual([]);
    const change = (fields: Values<AlertRuleEntity>) =>
      test.database.transaction(async (transaction) => {
        const before = await rules.lock(transaction, tenant.tenantId, id);
        return rules.update(transaction, BOOTSTRAP_AUTHOR, before, fields);
      });
    await change({ isEnabled: true });
    expect(await types()).toEqual(['alert.firing']);
    expect(await rules.find(tenant.tenantId, id)).toMatchObject({ isFiring: true });
    await change({ isEnabled: false });
    expect(await rules.find(tenant.tenantId, id)).toMatchObject({ isFiring: false });
    await setBalance(900);
    await change({ isEnabled: true, condition: { credits: 950 } });
    const sent = await evaluate();
    expect(sent.map(({ data }) => data.threshold)).toEqual(['950']);
  });

  it('of prices list outdated ones and differences from a public list, fetched once a week', async () => {
    const row = (day: string) => ({
      id: 'xai/m',
      pricing: { prompt: '0.000002', completion: '0.000006' },
      as_of: day,
    });
    let price = 4e-6;
    let status = 200;
    let fetches = 0;
    const server = createServer((_request, response) => {
      fetches++;
      const m = { litellm_provider: 'xai', input_cost_per_token: price };
      response.writeHead(status).end(JSON.stringify({ m }));
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = server.address() as AddressInfo;
    const watch = (day: string) => {
      const catalogue = new CatalogueService({ catalogueFile: undefined });
      catalogue.use(new Map([['xai/m', row(day)]]), 1);
      const priceList = `http://127.0.0.1:${port}/list?key=a-secret`;
      const metrics = new GatewayMetrics();
      const config = { queue: { consume: true }, priceList };
      return { metrics, prices: new PriceWatch(test.database, catalogue, config, metrics) };
    };
    const aWeekLater = () =>
      test.database.query(
        `UPDATE price_checks SET checked_at = now() - interval '8 days', begun_at = '-infinity'`,
      );
    await addRule('prices_stale', {}, { owner: null });
    await addRule('prices_differ', {}, { owner: null });

    const [first, second] = [watch('2020-01-01'), watch('2020-01-01')];
    await Promise.all([first.prices.look(), second.prices.look()]);
    await second.prices.look();
    expect(fetches).toBe(1);
    expect(await second.metrics.registry.metrics()).toMatch(/^gateway_prices_differ 1$/m);
    const sent = await evaluate();
    expect(sent.map(({ data }) => data.message).sort()).toEqual([
      'A public list has other prices of 1 models: xai/m.',
      'The prices of 1 models have not been confirmed for 60 days: xai/m.',
    ]);

    // An unreadable list says nothing about prices and is fetched again.
    await aWeekLater();
    status = 500;
    price = 2e-6;
    const warnings = jest.spyOn(Logger.prototype, 'warn').mockReturnValue();
    await first.prices.look();
    expect(warnings.mock.calls.join()).toContain('it was answered with status 500');
    expect(warnings.mock.calls.join()).not.toContain('a-secret');
    warnings.mockRestore();
    expect(await evaluate()).toEqual([]);
    await test.database.query(`UPDATE price_checks SET begun_at = '-infinity'`);
    status = 200;
    await first.prices.look();
    expect(await types()).toEqual(['alert.resolved']);
    expect(fetches).toBe(3);

    // A changed catalogue is checked without waiting for a week.
    await test.database.query(`UPDATE price_checks SET begun_at = '-infinity'`);
    const third = watch(new Date().toISOString().slice(0, 10));
    await third.prices.look();
    expect(await types()).toEqual(['alert.resolved']);
    expect(await third.metrics.registry.metrics()).toMatch(/^gateway_prices_stale 0$/m);
    server.closeAllConnections();
    server.close();
  });

  it('are evaluated by one process at a time, and not more often than needed', async () => {
    await setBalance(1);
    await addRule('balance_below', { credits: 500 });
    later();
    await test.database.transaction(async (transaction) => {
      await transaction.query('SELECT FROM alert_progress FOR UPDATE');
      await one.evaluator.look(now);
      expect(await states()).toEqual([]);
    });
    await one.evaluator.look(now);
    expect(await states()).toHaveLength(1);
    await test.database.query('DELETE FROM alert_events');
    await other.evaluator.look(new Date(now.getTime() + 5_000));
    expect(await states()).toEqual([]);
  });

  it('are kept for 90 days; open ones and those of a total budget for longer', async () => {
    const insert = (period: string, isOpen: boolean) =>
      test.database.query(
        `INSERT INTO alert_events (rule_id, rule_name, kind, status, subject, threshold, period, is_open,
           detail, created_at, state, finished_at)
         VALUES ($1, '', 'budget', 'firing', '', '', $2, $3, '{}', now(), 'delivered',
           now() - interval '91 days')`,
        [randomUUID(), period, isOpen],
      );
    await insert('2026-01', false);
    await insert('2026-02', true);
    await insert('total', false);
    await one.deliveries.clean();
    const { rows } = await test.database.query<{ period: string }>(
      'SELECT period FROM alert_events ORDER BY period',
    );
    expect(rows.map(({ period }) => period)).toEqual(['2026-02', 'total']);
  });
});
