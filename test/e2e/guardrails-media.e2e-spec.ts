import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { bootGateway, type BootedGateway } from '../support/boot-gateway.js';
import { jobIn } from '../support/job-client.js';
import { findLedgerFaults } from '../support/ledger-invariants.js';
import { loggedRequest, type LoggedRequest } from '../support/logged-request.js';
import { GUARDRAILS } from '../support/paths.js';

const EMBEDDINGS = '/v1/embeddings';
const SPEECH = '/v1/audio/speech';
const TRANSCRIPTIONS = '/v1/audio/transcriptions';
const WORD = 'falcon-seven';
const FORMATS = ['json', 'text', 'srt', 'verbose_json', 'vtt'];

type Json = Record<string, unknown>;

const embed = (input: unknown): [string, Json] => [EMBEDDINGS, { model: 'sandbox/embed', input }];
const speak = (input: string, fields: Json = {}): [string, Json] => [
  SPEECH,
  { model: 'sandbox/speech', input, voice: 'alloy', response_format: 'wav', ...fields },
];

const JOBS: [path: string, body: Json, param: string][] = [
  ['/v1/jobs', { model: 'sandbox/image', prompt: `a ${WORD}` }, 'prompt'],
  ['/v1/jobs', { model: 'sandbox/video', prompt: `a ${WORD}` }, 'prompt'],
  ['/v1/jobs', { model: 'sandbox/speech', input: `a ${WORD}` }, 'input'],
  ['/v1/jobs', { model: 'sandbox/speech', input: 'x', instructions: `as a ${WORD}` }, 'input'],
  ['/v1/jobs', { model: 'sandbox/image', prompt: 'x', negative_prompt: WORD }, 'prompt'],
  ['/v1/images/generations', { model: 'sandbox/image', prompt: `a ${WORD}` }, 'prompt'],
];

describe('guardrails on other inputs than conversations', () => {
  let gateway: BootedGateway;
  let recording: Blob;

  beforeAll(async () => {
    gateway = await bootGateway();
    const response = await gateway.post(...speak(`It is ${WORD} indeed`));
    expect(response.status).toBe(200);
    recording = await response.blob();
  });
  afterEach(async () => {
    const { data } = (await (await gateway.fetch(GUARDRAILS)).json()) as { data: { id: string }[] };
    for (const { id } of data) await gateway.fetch(`${GUARDRAILS}/${id}`, { method: 'DELETE' });
    expect(await findLedgerFaults(gateway.database)).toEqual([]);
  });
  afterAll(() => gateway.close());

  async function guard(fields: Json = {}): Promise<string> {
    const rules = [{ type: 'regex', pattern: 'falcon-[a-z]+' }];
    const response = await gateway.post(GUARDRAILS, { name: 'no falcons', rules, ...fields });
    expect(response.status).toBe(201);
    return ((await response.json()) as { id: string }).id;
  }

  function transcribe(fields: Record<string, string> = {}): Promise<Response> {
    const body = new FormData();
    body.append('model', 'sandbox/transcribe');
    for (const [field, value] of Object.entries(fields)) body.append(field, value);
    body.append('file', recording, 'a.wav');
    return gateway.fetch(TRANSCRIPTIONS, { method: 'POST', body });
  }

  async function triggersOf(id: string): Promise<number> {
    const record = (await (await gateway.fetch(`${GUARDRAILS}/${id}`)).json()) as {
      trigger_count: number;
    };
    return record.trigger_count;
  }

  const rowOf = (response: Response): Promise<LoggedRequest> =>
    loggedRequest(gateway.database, response.headers.get('x-request-id'));

  async function expectViolation(response: Response, param: string): Promise<void> {
    const text = await response.text();
    expect([response.status, text]).toEqual([403, expect.any(String)]);
    expect(JSON.parse(text)).toEqual({
      error: {
        type: 'guardrail_violation',
        code: 403,
        param,
        message: expect.stringContaining('"no falcons"'),
      },
    });
    expect(text).not.toContain(WORD);
  }

  const INPUTS: [string, string, () => Promise<Response>][] = [
    ['a text to embed', 'input', () => gateway.post(...embed(WORD))],
    ['one of many texts to embed', 'input', () => gateway.post(...embed(['Hi', `a ${WORD}`]))],
    ['a text to speak', 'input', () => gateway.post(...speak(WORD))],
    [
      'instructions on how to speak',
      'input',
      () => gateway.post(...speak('Hi', { instructions: WORD })),
    ],
    ['the prompt of a transcription', 'prompt', () => transcribe({ prompt: WORD })],
  ];

  it.each(INPUTS)('block %s, for free', async (_name, param, ask) => {
    const id = await guard();
    const response = await ask();
    await expectViolation(response, param);
    expect(await rowOf(response)).toMatchObject({
      outcome: 'refused',
      cost: 0,
      error_type: 'guardrail_violation',
    });
    expect(await triggersOf(id)).toBe(1);
  });

  it.each(INPUTS)('flag and log %s, and allow it', async (_name, _param, ask) => {
    const flag = await guard({ action: 'flag' });
    const log = await guard({ action: 'log' });
    const response = await ask();
    expect(response.status).toBe(200);
    await response.arrayBuffer();
    expect(response.headers.get('x-guardrail-flagged')).toBe(flag);
    expect(await rowOf(response)).toMatchObject({ outcome: 'completed', flagged: true });
    expect([await triggersOf(flag), await triggersOf(log)]).toEqual([1, 1]);
  });

  it('allow harmless texts, and check no output unless configured', async () => {
    await guard();
    for (const response of [
      await gateway.post(...embed(['falcon', 'seven'])),
      await gateway.post(...embed([[1, 2, 3]])),
      await gateway.post(...speak('falcon seven')),
      await transcribe({ prompt: 'birds' }),
    ]) {
      expect(response.status).toBe(200);
      await response.arrayBuffer();
    }
  });

  it.each(FORMATS)('withhold a transcript as %s and charge it in full', async (response_format) => {
    const before = await transcribe({ response_format });
    expect(await before.text()).toContain(WORD);
    const { cost } = await rowOf(before);
    expect(cost).toBeGreaterThan(0);

    const id = await guard({ applies_to: ['output'] });
    const response = await transcribe({ response_format });
    await expectViolation(response, 'file');
    expect(await rowOf(response)).toMatchObject({ outcome: 'failed', cost });
    expect(await triggersOf(id)).toBe(1);
  });

  it.each(JOBS)('block at %s %j', async (path, body, param) => {
    const id = await guard();
    const response = await gateway.post(path, body);
    await expectViolation(response, param);
    expect(await rowOf(response)).toMatchObject({ outcome: 'refused', cost: 0 });
    expect(await triggersOf(id)).toBe(1);
  });

  it.each(JOBS)('flag at %s %j', async (path, body) => {
    const id = await guard({ action: 'flag' });
    const response = await gateway.post(path, body);
    expect(response.headers.get('x-guardrail-flagged')).toBe(id);
    const { id: jobId } = (await response.json()) as { id?: string };
    if (jobId !== undefined) await jobIn(gateway, jobId, 'succeeded');
    expect(await rowOf(response)).toMatchObject({ outcome: 'completed', flagged: true });
  });

  it('flag a transcript', async () => {
    const id = await guard({ applies_to: ['output'], action: 'flag' });
    const response = await transcribe();
    expect(await response.text()).toContain(WORD);
    expect(response.headers.get('x-guardrail-flagged')).toBe(id);
    expect(await rowOf(response)).toMatchObject({ outcome: 'completed', flagged: true });
  });
});
