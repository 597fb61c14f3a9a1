import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { JobSweeper } from '../../src/features/jobs/job-sweeper.service.js';
import { bootWithBroadcast, OPT_IN, type BroadcastSetUp } from '../support/boot-with-broadcast.js';
import { jobIn, type JobBody } from '../support/job-client.js';
import { findLedgerFaults } from '../support/ledger-invariants.js';

const PROMPT = 'the secret prompt';
const TRACE = { trace_name: 'my picture', priority: 'high', session_id: 's-1' };
const PARENT = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

describe('trace broadcast of jobs', () => {
  let setUp: BroadcastSetUp;

  beforeAll(async () => {
    setUp = await bootWithBroadcast({ GATEWAY_JOB_POLL_MS: '50' });
  });
  afterEach(async () => {
    await setUp.clear();
    setUp.receiver.deliveries.length = 0;
    expect(await findLedgerFaults(setUp.gateway.database)).toEqual([]);
  });
  afterAll(() => setUp.close());

  const submit = async (body: object, headers: Record<string, string> = OPT_IN) => {
    const response = await setUp.gateway.post('/v1/jobs', body, headers);
    const job = (await response.json()) as JobBody;
    return { status: response.status, job, requestId: response.headers.get('x-request-id')! };
  };

  const sweep = (): Promise<void> =>
    setUp.gateway.gateway.application.get(JobSweeper, { strict: false }).sweepNow();
  /** Waits for the trace of one more request. @returns the ids of other traces, once per delivery */
  const traceOfAnother = async (): Promise<string[]> => {
    const { job, requestId: last } = await submit({ model: 'sandbox/image', prompt: PROMPT });
    await jobIn(setUp.gateway, job.id, 'succeeded');
    await setUp.receiver.traceOf(last);
    return setUp.receiver.deliveries
      .flatMap(({ spans }) => spans.map(({ attributes }) => attributes['gateway.request.id']))
      .filter((id) => typeof id === 'string')
      .filter((id) => id !== last);
  };

  it('traces an image and its fallback when the job has ended', async () => {
    await setUp.send();
    const models = ['sandbox/image-fault-500', 'sandbox/image'];
    const { job, requestId } = await submit(
      { models, prompt: PROMPT, n: 2, trace: TRACE, user: 'ann' },
      { ...OPT_IN, traceparent: PARENT, 'x-gateway-tags': 'team=a' },
    );
    await jobIn(setUp.gateway, job.id, 'succeeded');
    const [root, first, second, ...others] = await setUp.receiver.traceOf(requestId);
    expect(others).toEqual([]);
    expect(root).toMatchObject({
      name: 'my picture',
      traceId: '0af7651916cd43dd8448eb211c80319c',
      parentSpanId: 'b7ad6b7169203331',
      status: { code: 0 },
      attributes: {
        'gen_ai.operation.name': 'image',
        'gen_ai.output.type': 'image',
        'gen_ai.request.model': models[0],
        'gen_ai.response.model': models[1],
        'gateway.endpoint': 'jobs',
        'gateway.outcome': 'completed',
        'gateway.attempts': 2,
        'gateway.usage.images': 2,
        'gateway.trace.priority': 'high',
        'session.id': 's-1',
        'user.id': 'ann',
        'gateway.tag.team': 'a',
      },
    });
    expect(first).toMatchObject({
      name: 'attempt sandbox/image-fault-500 via sandbox',
      attributes: { 'error.type': 'server', 'http.response.status_code': 500 },
    });
    expect(second).toMatchObject({ attributes: { 'gateway.attempt.outcome': 'answered' } });
    expect(setUp.receiver.deliveries.map(({ text }) => text).join()).not.toContain(PROMPT);
  });

  it('traces a polled video once, from submission to end', async () => {
    await setUp.send({ include_content: true });
    const { job, requestId } = await submit({ model: 'sandbox/video', prompt: PROMPT, seconds: 2 });
    await jobIn(setUp.gateway, job.id, 'succeeded');
    const [root, attempt, ...others] = await setUp.receiver.traceOf(requestId);
    expect(others).toEqual([]);
    expect(root!.attributes).toMatchObject({
      'gen_ai.operation.name': 'video',
      'gateway.usage.video_seconds': 2,
      'gateway.attempts': 1,
    });
    expect(JSON.stringify(root!.attributes)).toContain(PROMPT);
    expect(attempt!.name).toBe('attempt sandbox/video via sandbox');
    expect(setUp.receiver.requestIds()).toEqual([requestId]);
    expect(await traceOfAnother()).toEqual([requestId]);
  });

  it.each([
    ['fails', { model: 'sandbox/image-fault-500', n: 1 }, 'failed', 'provider_error'],
    ['is cancelled', { model: 'sandbox/video-fault-stuck' }, 'cancelled', undefined],
  ])('traces a job that %s', async (_name, body, status, errorType) => {
    await setUp.send();
    // A job would be retried for a while; a caller waiting for an image fails at once.
    const isWaiting = 'n' in body;
    const path = isWaiting ? '/v1/images/generations' : '/v1/jobs';
    const response = await setUp.gateway.post(path, { ...body, prompt: PROMPT }, OPT_IN);
    const requestId = response.headers.get('x-request-id')!;
    const { id } = (await response.json()) as JobBody;
    if (!isWaiting) await setUp.gateway.fetch(`/v1/jobs/${id}`, { method: 'DELETE' });
    const [root] = await setUp.receiver.traceOf(requestId);
    expect(root!.attributes).toMatchObject({
      'gateway.outcome': status,
      'gateway.cost.credits': 0,
      'gateway.endpoint': isWaiting ? 'images' : 'jobs',
    });
    expect(root!.attributes['error.type']).toBe(errorType);
  });

  it('traces guardrails that flagged a job or rejected a submission', async () => {
    await setUp.send();
    const make = async (action: string, word: string): Promise<string> => {
      const response = await setUp.gateway.post('/v1/customer/guardrails', {
        name: word,
        action,
        rules: [{ type: 'keyword', words: [word] }],
      });
      const body = (await response.json()) as { id: string };
      expect([response.status, body]).toMatchObject([201, { id: expect.any(String) }]);
      return body.id;
    };
    const marks = await make('flag', 'blue');
    const refuses = await make('block', 'red');
    try {
      const marked = await submit({ model: 'sandbox/image', prompt: 'a blue picture' });
      await jobIn(setUp.gateway, marked.job.id, 'succeeded');
      const [root] = await setUp.receiver.traceOf(marked.requestId);
      expect(root!.attributes).toMatchObject({
        'gateway.guardrail.flagged': true,
        'gateway.guardrail.ids': [marks],
        'gateway.guardrail.actions': ['flag:input'],
      });
      const refused = await submit({ model: 'sandbox/image', prompt: 'a red picture' });
      expect(refused.status).toBe(403);
      const [refusal] = await setUp.receiver.traceOf(refused.requestId);
      expect(refusal!.attributes).toMatchObject({
        'gateway.outcome': 'refused',
        'gateway.guardrail.ids': [refuses],
      });
    } finally {
      for (const id of [marks, refuses]) {
        await setUp.gateway.fetch(`/v1/customer/guardrails/${id}`, { method: 'DELETE' });
      }
    }
  });

  it('traces a job whose worker died right after ending it', async () => {
    await setUp.send();
    const { job, requestId } = await submit({ model: 'sandbox/image', prompt: PROMPT });
    await jobIn(setUp.gateway, job.id, 'succeeded');
    await setUp.receiver.traceOf(requestId);
    setUp.receiver.deliveries.length = 0;
    // The row as left by a process that died right after ending the job.
    await setUp.gateway.database.query(
      `UPDATE jobs SET trace_due = true, completed_at = now() - interval '1 minute' WHERE id = $1`,
      [job.id],
    );
    await sweep();
    const [root] = await setUp.receiver.traceOf(requestId);
    expect(root!.attributes).toMatchObject({
      'gateway.outcome': 'completed',
      'gen_ai.response.model': 'sandbox/image',
      'gateway.usage.images': 1,
    });
    await sweep();
    expect(await traceOfAnother()).toEqual([requestId]);
  });

  it('is requested by the submission, which rejects an invalid `trace`', async () => {
    await setUp.send();
    const { job } = await submit({ model: 'sandbox/image', prompt: PROMPT, trace: TRACE }, {});
    await jobIn(setUp.gateway, job.id, 'succeeded');
    const bad = await submit({ model: 'sandbox/image', prompt: PROMPT, trace: { priority: 1 } });
    expect([bad.status, bad.job]).toMatchObject([400, { error: { param: 'trace.priority' } }]);
    const { rows } = await setUp.gateway.database.query<{ trace: string | null; body: string }>(
      'SELECT trace, body FROM jobs WHERE id = $1',
      [job.id],
    );
    expect(rows[0]!.trace).toBeNull();
    expect(rows[0]!.body).not.toContain('my picture');
    expect(await traceOfAnother()).toEqual([]);
  });
});
