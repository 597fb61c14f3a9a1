import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { startScriptedServer, type ScriptedServer } from '../contract/scripted-server.js';
import { bootGateway, type BootedGateway } from '../support/boot-gateway.js';
import { answerEmbeddings } from '../support/fake-embedders.js';
import { findLedgerFaults, readLedger } from '../support/ledger-invariants.js';

const CREDITS = 1_000;
const GOOD = { model: 'openai/text-embedding-3-small', input: 'Hi' };

interface ErrorBody {
  error: { message: string; type: string; code: number; param: string };
}

describe('a bad embeddings request', () => {
  let vendors: ScriptedServer;
  let gateway: BootedGateway;

  beforeAll(async () => {
    vendors = await startScriptedServer(answerEmbeddings);
    gateway = await bootGateway({
      OPENAI_API_KEY: 'sk-vendor-key',
      OPENAI_BASE_URL: `${vendors.origin}/v1`,
      AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE',
      AWS_SECRET_ACCESS_KEY: 'aws-secret',
      AWS_BEDROCK_ENDPOINT: vendors.origin,
      GATEWAY_BOOTSTRAP_CREDITS: String(CREDITS),
    });
  });
  afterAll(async () => {
    await gateway.close();
    await vendors.close();
  });
  beforeEach(() => {
    vendors.calls.length = 0;
    vendors.script = answerEmbeddings;
  });

  const send = async (fields: object) => {
    const response = await gateway.post('/v1/embeddings', { ...GOOD, ...fields });
    return { response, body: (await response.json()) as ErrorBody };
  };
  const nothingCharged = async (): Promise<void> => {
    const [account] = await readLedger(gateway.database);
    expect(account).toMatchObject({ balance: CREDITS, held: 0, holds: 0 });
    expect(await findLedgerFaults(gateway.database)).toEqual([]);
  };

  it.each<[number, string, object]>([
    [400, 'input', { input: undefined }],
    [400, 'input', { input: '' }],
    [400, 'input', { input: [] }],
    [400, 'input', { input: 5 }],
    [400, 'input', { input: Array.from({ length: 2_049 }, () => 'x') }],
    [400, 'input.1', { input: ['x', ''] }],
    [400, 'input.1', { input: ['x', 5] }],
    [400, 'input.1', { input: [[1], []] }],
    [400, 'encoding_format', { encoding_format: 'int8' }],
    [400, 'encoding_format', { encoding_format: 5 }],
    [400, 'dimensions', { dimensions: 0 }],
    [400, 'dimensions', { dimensions: '8' }],
    [400, 'dimensions', { model: 'openai/text-embedding-ada-002', dimensions: 8 }],
    [400, 'dimensions', { model: 'bedrock/cohere.embed-english-v3', dimensions: 8 }],
    [400, 'user', { user: {} }],
    [400, 'model', { model: undefined }],
    [400, 'model', { model: 'text-embedding-3-small' }],
    [400, 'model', { model: 'sandbox/echo' }],
    [404, 'model', { model: 'openai/text-embedding-9' }],
    [400, 'models', { models: ['openai/text-embedding-3-large'] }],
    [404, 'provider', { provider: { only: ['vertex'] } }],
    [400, 'service_tier', { service_tier: 'flex' }],
    [402, 'credits', { input: Array.from({ length: 2_000 }, () => '東'.repeat(100)) }],
  ])('is rejected with %d, naming %s: %j', async (status, param, fields) => {
    const { response, body } = await send(fields);
    expect(body.error).toMatchObject({ code: status, param });
    expect(response.status).toBe(status);
    expect(response.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
    expect(vendors.calls).toEqual([]);
    await nothingCharged();
  });

  it.each<[string, object]>([
    ['input.1', { input: ['x', 'x'.repeat(2_049)] }],
    ['input', { input: [1, 2, 3_000_000] }],
  ])('is rejected when the model does not accept %s', async (param, fields) => {
    const { body } = await send({ model: 'bedrock/cohere.embed-english-v3', ...fields });
    expect(body.error).toMatchObject({ code: 400, type: 'invalid_request_error', param });
    expect(vendors.calls).toEqual([]);
    await nothingCharged();
  });

  it('gets the vendor’s message, once', async () => {
    const message = "This model's maximum context length is 8192 tokens.";
    vendors.script = (_call, response) => {
      response.writeHead(400, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ error: { message, type: 'invalid_request_error' } }));
    };
    const { body } = await send({});
    expect(body.error).toMatchObject({ code: 400, param: 'input', message });
    expect(vendors.calls).toHaveLength(1);
    await nothingCharged();
  });

  it('requires a routing key', async () => {
    const path = `${gateway.url}/v1/embeddings`;
    const init = { method: 'POST', body: JSON.stringify(GOOD) };
    const keyless = await fetch(path, init);
    expect(keyless.status).toBe(401);
    const authorization = `Bearer ${gateway.managementKey}`;
    const management = await fetch(path, { ...init, headers: { authorization } });
    expect(management.status).toBe(403);
    await nothingCharged();
  });
});
