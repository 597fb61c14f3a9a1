import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { setTimeout as wait } from 'node:timers/promises';
import { CredentialDirectory } from '../../src/core/credentials/credential-directory.service.js';
import { JobWorker } from '../../src/features/jobs/job-worker.service.js';
import { bootGateway, type BootedGateway } from '../support/boot-gateway.js';
import { listedJob, readJob, submitJob, type JobBody } from '../support/job-client.js';
import { findLedgerFaults } from '../support/ledger-invariants.js';
import { startMediaVendor, type MediaVendor } from '../support/media-vendor.js';
import { writeOperatorFiles } from '../support/operator-files.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { runRow } from '../support/work-engine.js';

const CREDENTIALS = '/v1/customer/provider-credentials';
const SHARED_KEY = 'operators-key-for-one';
const PRICE = 40_000;
const FEE = 2_000;

describe('a job with a BYOK account', () => {
  let vendor: MediaVendor;
  let files: Awaited<ReturnType<typeof writeOperatorFiles>>;
  let database: TestDatabase;
  /** Accepts jobs; the other instance runs them. */
  let gateway: BootedGateway;
  let other: BootedGateway;
  let stored = 0;

  beforeAll(async () => {
    vendor = await startMediaVendor({
      random: () => 0.5,
      refuses: 0,
      losesAnswers: 0,
      workMs: 10,
    });
    files = await writeOperatorFiles(
      { one: { base_url: vendor.baseUrl, api_key_env: 'ONE_KEY' } },
      [
        { id: 'one/draw', kind: 'image', pricing: { prompt: '0', completion: '0', image: '0.04' } },
        { id: 'one/film', kind: 'video', pricing: { video_second: '0.01' } },
      ],
    );
    database = await createTestDatabase();
    const environment = {
      ...files.environment,
      ONE_KEY: SHARED_KEY,
      GATEWAY_SECRET: 'the-secret-that-both-instances-share',
      GATEWAY_BOOTSTRAP_API_KEY: 'sk-byok-jobs-test-key-0001',
      GATEWAY_JOB_WORKERS: 'false',
    };
    gateway = await bootGateway(environment, { database });
    other = await bootGateway(environment, { database });
  });
  afterEach(async () => {
    const { data } = (await (await gateway.fetch(CREDENTIALS)).json()) as {
      data: { id: string }[];
    };
    for (const { id } of data) await forget(id);
    vendor.keys.length = 0;
    expect(await findLedgerFaults(database.database)).toEqual([]);
    const { rows } = await database.database.query('SELECT FROM holds');
    expect(rows).toEqual([]);
  });
  afterAll(async () => {
    await gateway.close();
    await other.close();
    await database.drop();
    await files.remove();
    await vendor.close();
  });

  const draw = { model: 'one/draw', prompt: 'a lighthouse' };
  const store = async (fields: object = {}): Promise<{ id: string; key: string }> => {
    const key = `own-key-number-${stored++}`;
    const response = await gateway.post(CREDENTIALS, { provider: 'one', key, ...fields });
    expect(response.status).toBe(201);
    return { id: ((await response.json()) as { id: string }).id, key };
  };
  const forget = async (id: string): Promise<void> => {
    await gateway.fetch(`${CREDENTIALS}/${id}`, { method: 'DELETE' });
  };
  /** Waits until the other instance has seen the change. */
  const forgetEverywhere = async (id: string): Promise<void> => {
    await forget(id);
    other.gateway.application.get(CredentialDirectory, { strict: false }).forget(other.tenantId);
  };
  /** Runs the job on the other instance until it has ended. */
  const work = async (id: string): Promise<JobBody> => {
    const worker = other.gateway.application.get(JobWorker, { strict: false });
    for (let looks = 0; looks < 100; looks++) {
      await runRow(worker, id);
      const job = await readJob(other, id);
      if (!['queued', 'in_progress'].includes(job.status)) return job;
      await database.database.query('UPDATE jobs SET run_at = now() WHERE id = $1', [id]);
      await wait(20);
    }
    throw new Error('the job does not end');
  };
  const logOf = async (id: string): Promise<Record<string, unknown>> => {
    const { rows } = await database.database.query<Record<string, unknown>>(
      `SELECT traffic_mode, cost, model_charge, byok_platform_fee, billing_note FROM request_logs
       WHERE request_id = (SELECT request_id FROM jobs WHERE id = $1)`,
      [id],
    );
    expect(rows).toHaveLength(1);
    return rows[0]!;
  };

  it('runs on any instance with its key and is charged the fee', async () => {
    const { key } = await store();
    const { id } = await submitJob(gateway, draw);
    expect(await listedJob(gateway, id)).toMatchObject({ reserved_credits: FEE });
    expect(await work(id)).toMatchObject({ status: 'succeeded', provider: 'one' });
    expect(vendor.keys).toEqual([key]);
    expect(await listedJob(gateway, id)).toMatchObject({ actual_cost: FEE });
    expect(await logOf(id)).toEqual({
      traffic_mode: 'byok',
      cost: FEE,
      model_charge: 0,
      byok_platform_fee: FEE,
      billing_note: expect.stringContaining('one'),
    });
  });

  it("stores the account's id but not its key", async () => {
    const { id: credentialId, key } = await store();
    const { id } = await submitJob(gateway, draw);
    const { rows } = await database.database.query<{ row: string }>(
      'SELECT jobs::text AS row FROM jobs WHERE id = $1',
      [id],
    );
    expect(rows[0]!.row).toContain(credentialId);
    expect(rows[0]!.row).not.toContain(key);
    await work(id);
  });

  it('is polled with the key that submitted it, even if replaced since', async () => {
    const { key } = await store();
    const { id } = await submitJob(gateway, { model: 'one/film', prompt: 'waves', seconds: 4 });
    await runRow(other.gateway.application.get(JobWorker, { strict: false }), id);
    await store();
    expect(await work(id)).toMatchObject({ status: 'succeeded' });
    expect(new Set(vendor.keys)).toEqual(new Set([key]));
    expect(await logOf(id)).toMatchObject({ traffic_mode: 'byok', cost: FEE });
  });

  it('fails free of charge when the account is deleted before submission', async () => {
    const { id: credentialId } = await store();
    const { id } = await submitJob(gateway, draw);
    await forgetEverywhere(credentialId);
    const { status, error } = await work(id);
    expect([status, error!.message]).toEqual(['failed', expect.stringContaining('deleted')]);
    expect(vendor.keys).toEqual([]);
    expect(await logOf(id)).toMatchObject({ cost: 0 });
  });

  it('then falls back to shared capacity at its price, if allowed', async () => {
    const { id: credentialId } = await store({ allow_shared_fallback: true });
    const { id } = await submitJob(gateway, draw);
    expect(await listedJob(gateway, id)).toMatchObject({ reserved_credits: PRICE });
    await forgetEverywhere(credentialId);
    expect(await work(id)).toMatchObject({ status: 'succeeded' });
    expect(vendor.keys).toEqual([SHARED_KEY]);
    expect(await logOf(id)).toMatchObject({ traffic_mode: 'shared', cost: PRICE });
  });

  it('fails free of charge when the account is deleted while the vendor works', async () => {
    const { id: credentialId, key } = await store({ allow_shared_fallback: true });
    const { id } = await submitJob(gateway, { model: 'one/film', prompt: 'waves', seconds: 4 });
    await runRow(other.gateway.application.get(JobWorker, { strict: false }), id);
    expect(vendor.keys).toEqual([key]);
    await forgetEverywhere(credentialId);
    const { status, error } = await work(id);
    expect([status, error!.message]).toEqual(['failed', expect.stringContaining('deleted')]);
    expect(vendor.keys).toEqual([key]);
    expect(await logOf(id)).toMatchObject({ cost: 0 });
  });
});
