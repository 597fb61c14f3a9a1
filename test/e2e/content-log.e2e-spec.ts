import { createHash } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { RequestContentDto } from '../../src/features/customer/logs/request-content.controller.js';
import { openAccessServices, type AccessServices } from '../support/access-services.js';
import { bootGateway, type BootedGateway } from '../support/boot-gateway.js';
import { jobIn } from '../support/job-client.js';
import { idOf } from '../support/logged-request.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { until } from '../support/until.js';
import { form, wave } from '../support/uploads.js';

const CHAT = '/v1/chat/completions';
const SETTING = '/v1/customer/content-log';
const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==';

let own: TestDatabase;
let gateway: BootedGateway;
let second: BootedGateway;
let access: AccessServices;

beforeAll(async () => {
  own = await createTestDatabase();
  gateway = await bootGateway({ GATEWAY_CONTENT_LOG: 'allowed' }, { database: own });
  second = await bootGateway(
    { GATEWAY_CONTENT_LOG: 'allowed', GATEWAY_BOOTSTRAP_API_KEY: gateway.apiKey },
    { database: own },
  );
  access = await openAccessServices(own.url);
});
afterAll(async () => {
  await access.close();
  await Promise.all([gateway.close(), second.close()]);
  await own.drop();
});

const chat = (content: unknown, fields: object = {}) => ({
  model: 'sandbox/echo',
  messages: [{ role: 'user', content }],
  ...fields,
});

function asOwner(method: string, path: string, body?: object): Promise<Response> {
  return gateway.fetch(path, {
    method,
    headers: {
      authorization: `Bearer ${gateway.managementKey}`,
      'content-type': 'application/json',
    },
    ...(body && { body: JSON.stringify(body) }),
  });
}

const pathOf = (requestId: string) => `/v1/customer/logs/${requestId}/content`;

async function contentOf(requestId: string): Promise<RequestContentDto> {
  await until(async () => (await countContents(requestId)) > 0);
  const response = await asOwner('GET', pathOf(requestId));
  expect(response.status).toBe(200);
  expect(response.headers.get('cache-control')).toBe('no-store');
  return (await response.json()) as RequestContentDto;
}

async function countContents(requestId: string): Promise<number> {
  const { rows } = await own.database.query<{ count: number }>(
    'SELECT count(*)::integer AS count FROM request_contents WHERE request_id = $1',
    [requestId],
  );
  return rows[0]!.count;
}

/** Returns the names of tables that contain the text anywhere in a row. */
async function tablesWith(marker: string): Promise<string[]> {
  const { rows: tables } = await own.database.query<{ name: string }>(
    `SELECT pg_class.oid::regclass::text AS name
     FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
     WHERE nspname !~ '^pg_|^information_schema$' AND relkind IN ('r', 'p')`,
  );
  const hex = Buffer.from(marker).toString('hex');
  const found: string[] = [];
  for (const { name } of tables) {
    const { rows } = await own.database.query<{ found: boolean }>(
      `SELECT EXISTS (
         SELECT FROM ${name} AS t WHERE strpos(t::text, $1) > 0 OR strpos(t::text, $2) > 0
       ) AS found`,
      [marker, hex],
    );
    if (rows[0]!.found) found.push(name);
  }
  return found;
}

/** Changes the setting and waits until both instances know, which takes up to a second. */
async function choose(enabled: boolean | null): Promise<void> {
  const response = await asOwner('PATCH', SETTING, { enabled });
  expect(response.status).toBe(200);
  await wait(1_100);
}

const texts = ({ messages }: { messages: { parts: object[] }[] }) => JSON.stringify(messages);

describe('the content log', () => {
  it('stores no content unless it is enabled', async () => {
    const marker = 'planted-while-off';
    await idOf(gateway.post(CHAT, chat(marker)));
    await idOf(gateway.post(CHAT, chat(marker, { stream: true })));
    await idOf(gateway.post('/v1/embeddings', { model: 'sandbox/embed', input: marker }));
    await idOf(gateway.post(CHAT, chat(marker, { model: 'sandbox/fault-500' })));
    await wait(300);
    expect(await tablesWith(marker)).toEqual([]);
    // Proves that the search finds text and bytes.
    expect(await tablesWith('sandbox/echo')).toContain('request_logs');
    expect(await tablesWith(gateway.apiKey.slice(0, 7))).toContain('api_keys');
    expect(await (await asOwner('GET', SETTING)).json()).toEqual({
      object: 'content_log',
      setting: 'allowed',
      enabled: null,
      is_on: false,
      retention_days: 30,
    });
  });

  describe('enabled by its tenant', () => {
    beforeAll(() => choose(true));
    afterAll(() => choose(null));

    it('stores prompts and answers encrypted', async () => {
      const marker = 'planted-while-on';
      const requestId = await idOf(gateway.post(CHAT, chat(marker)));
      const { prompt, answer, ...rest } = await contentOf(requestId);
      expect(prompt).toEqual({
        instructions: [],
        messages: [{ role: 'user', parts: [{ type: 'text', content: marker }] }],
      });
      expect(texts(answer)).toContain(marker);
      expect(rest).toMatchObject({ request_id: requestId, endpoint: 'chat', truncated: false });
      expect(await tablesWith(marker)).toEqual([]);
    });

    const post = (path: string, body: object) => () => gateway.post(path, body);
    it.each<[string, () => Promise<Response>, string, string]>([
      ['a streamed chat', post(CHAT, chat('one', { stream: true })), 'one', 'one'],
      [
        'a message',
        post('/v1/messages', { ...chat('two'), system: 'be brief', max_tokens: 20 }),
        'two',
        'two',
      ],
      [
        'a streamed response',
        post('/v1/responses', { model: 'sandbox/echo', input: 'three', stream: true }),
        'three',
        'three',
      ],
      [
        'embeddings',
        post('/v1/embeddings', { model: 'sandbox/embed', input: ['four'] }),
        'four',
        '[]',
      ],
      ['a failure', post(CHAT, chat('five', { model: 'sandbox/fault-500' })), 'five', '[]'],
      [
        'a cached answer',
        () => gateway.post(CHAT, chat('six'), { 'x-gateway-cache': 'true' }),
        'six',
        'six',
      ],
    ])('stores the content of %s', async (_, send, input, answered) => {
      const { prompt, answer } = await contentOf(await idOf(send()));
      expect(texts(prompt)).toContain(input);
      expect(texts(answer)).toContain(answered);
    });

    it('records media by size and hash', async () => {
      const picture = { type: 'image_url', image_url: { url: `data:image/png;base64,${PIXEL}` } };
      const parts = [{ type: 'text', text: 'what is it' }, picture];
      const shown = await contentOf(await idOf(gateway.post(CHAT, chat(parts))));
      const bytes = Buffer.from(PIXEL, 'base64');
      const sha256 = createHash('sha256').update(bytes).digest('hex');
      expect(shown.prompt.messages[0]!.parts[1]).toMatchObject({
        type: 'blob',
        mime_type: 'image/png',
        content: '',
        bytes: bytes.length,
        sha256,
      });

      const speech = { model: 'sandbox/speech', input: 'say it', voice: 'alloy' };
      const response = await gateway.post('/v1/audio/speech', speech);
      const audio = Buffer.from(await response.arrayBuffer());
      const spoken = await contentOf(response.headers.get('x-request-id')!);
      expect(texts(spoken.prompt)).toContain('say it');
      expect(spoken.answer.media).toEqual([
        {
          mime_type: response.headers.get('content-type'),
          bytes: audio.length,
          sha256: createHash('sha256').update(audio).digest('hex'),
        },
      ]);

      const body = form({ model: 'sandbox/transcribe' }, wave(500));
      const transcript = await contentOf(
        await idOf(gateway.fetch('/v1/audio/transcriptions', { method: 'POST', body })),
      );
      expect(transcript.prompt.messages[0]!.parts[0]).toMatchObject({ type: 'blob', sha256: null });
      expect(transcript.answer.messages).toHaveLength(1);
    });

    it('stores the prompts of jobs', async () => {
      const job = await gateway.post('/v1/jobs', { model: 'sandbox/image', prompt: 'a red barn' });
      const { id } = (await job.json()) as { id: string };
      await jobIn(gateway, id, 'succeeded');
      const { prompt } = await contentOf(job.headers.get('x-request-id')!);
      expect(texts(prompt)).toContain('a red barn');
    });

    it('stores partial answers of disconnected callers, and delays no answer', async () => {
      const leaving = new AbortController();
      const words = 'seven '.repeat(3_000);
      const response = await gateway.fetch(CHAT, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(chat(words, { model: 'sandbox/words', stream: true })),
        signal: leaving.signal,
      });
      await response.body!.getReader().read();
      leaving.abort();
      const { prompt, answer } = await contentOf(response.headers.get('x-request-id')!);
      expect(texts(prompt)).toContain('seven seven');
      expect(answer.messages.length).toBeLessThanOrEqual(1);
    });

    it('limits the content of one request, and says so', async () => {
      const long = 'x'.repeat(300_000);
      const { prompt, truncated } = await contentOf(await idOf(gateway.post(CHAT, chat(long))));
      expect(truncated).toBe(true);
      expect(texts(prompt).length).toBeLessThan(140_000);
    });

    it('applies on every instance, and can be read from any', async () => {
      const requestId = await idOf(second.post(CHAT, chat('eight')));
      expect(texts((await contentOf(requestId)).prompt)).toContain('eight');
    });

    it('audits each read in the same transaction', async () => {
      const requestId = await idOf(gateway.post(CHAT, chat('nine')));
      await contentOf(requestId);
      const readings = async () => {
        const { rows } = await own.database.query<{ actor_kind: string; tenant_id: string }>(
          `SELECT actor_kind, tenant_id FROM audit_log
           WHERE action = 'content.read' AND target_id = $1`,
          [requestId],
        );
        return rows;
      };
      expect(await readings()).toEqual([{ actor_kind: 'api_key', tenant_id: gateway.tenantId }]);
      await own.database.query('ALTER TABLE audit_log RENAME TO audit_log_away');
      const refused = await asOwner('GET', pathOf(requestId));
      await own.database.query('ALTER TABLE audit_log_away RENAME TO audit_log');
      expect(refused.status).toBe(500);
      expect(await refused.text()).not.toContain('nine');
    });

    it('is not shown to routing keys and other tenants, or for unknown requests', async () => {
      const requestId = await idOf(gateway.post(CHAT, chat('ten')));
      await contentOf(requestId);
      expect((await gateway.fetch(pathOf(requestId))).status).toBe(403);
      const tenantId = await access.makeTenant('another');
      const { plaintext } = await access.makeKey({ tenantId, type: 'management' });
      const headers = { authorization: `Bearer ${plaintext}` };
      for (const method of ['GET', 'DELETE']) {
        const init = { method, headers };
        expect((await gateway.fetch(pathOf(requestId), init)).status).toBe(404);
        expect((await gateway.fetch(pathOf('no-id'), init)).status).toBe(404);
      }
      expect(texts((await contentOf(requestId)).prompt)).toContain('ten');
    });

    it('lets its owner delete one entry, or all including pending ones', async () => {
      const [first, other] = await Promise.all([
        idOf(gateway.post(CHAT, chat('eleven'))),
        idOf(gateway.post(CHAT, chat('twelve'))),
      ]);
      await contentOf(first);
      await contentOf(other);
      const deleted = await asOwner('DELETE', pathOf(first));
      expect(await deleted.json()).toEqual({
        object: 'request_content',
        request_id: first,
        deleted: true,
      });
      expect((await asOwner('GET', pathOf(first))).status).toBe(404);
      expect((await asOwner('DELETE', pathOf(first))).status).toBe(404);
      const all = (await (await asOwner('DELETE', SETTING)).json()) as { deleted_requests: number };
      expect(all.deleted_requests).toBeGreaterThan(0);
      expect((await asOwner('GET', pathOf(other))).status).toBe(404);
      const { rows } = await own.database.query<{ action: string }>(
        `SELECT action FROM audit_log WHERE action LIKE 'content.delete%' ORDER BY action`,
      );
      expect(rows).toEqual([{ action: 'content.delete' }, { action: 'content.delete_all' }]);
      expect((await gateway.fetch(`/v1/generation?id=${other}`)).status).toBe(200);
    });

    it('shows guardrail findings only to the owner', async () => {
      const rules = [{ type: 'keyword', words: ['falcon'] }];
      const guardrail = { name: 'birds', rules, action: 'log', applies_to: ['input', 'output'] };
      const made = await gateway.post('/v1/customer/guardrails', guardrail);
      const { id } = (await made.json()) as { id: string };
      const requestId = await idOf(gateway.post(CHAT, chat('we saw a falcon today')));
      await contentOf(requestId);
      const path = `/v1/customer/guardrail-events?guardrail_id=${id}`;
      const list = async (query = '') =>
        (await (await asOwner('GET', path + query)).json()) as {
          data: { excerpt: string | null; direction: string; request_id: string }[];
          has_more: boolean;
          next_cursor: string;
        };
      await until(async () => (await list()).data.length === 2);
      expect((await list()).data.map(({ excerpt }) => excerpt)).toEqual([null, null]);
      const [found, before] = (await list('&excerpts=true')).data;
      expect([found!.direction, before!.direction].sort()).toEqual(['input', 'output']);
      for (const event of [found!, before!]) expect(event.excerpt).toContain('a falcon today');
      const page = await list('&limit=1');
      expect(page.has_more).toBe(true);
      expect((await list(`&limit=1&cursor=${page.next_cursor}`)).data).toEqual([
        { ...before, excerpt: null },
      ]);
      expect((await gateway.fetch(path)).status).toBe(200);
      expect((await gateway.fetch(`${path}&excerpts=true`)).status).toBe(403);
      for (const query of ['&cursor=x', '&limit=0', '&excerpts=yes']) {
        expect((await asOwner('GET', path + query)).status).toBe(400);
      }
      expect(await tablesWith('falcon today')).toEqual([]);
      await asOwner('DELETE', `/v1/customer/guardrails/${id}`);
    });
  });

  it("follows the key's own setting first, which only management keys may change", async () => {
    const { id, plaintext } = await access.makeKey({ tenantId: gateway.tenantId });
    const path = `/v1/customer/api-keys/${id}`;
    const change = { method: 'PATCH', body: JSON.stringify({ content_log: true }) };
    const headers = { 'content-type': 'application/json' };
    expect((await gateway.fetch(path, { ...change, headers })).status).toBe(403);
    const changed = await asOwner('PATCH', path, { content_log: true });
    expect(await changed.json()).toMatchObject({ content_log: true });
    const authorization = `Bearer ${plaintext}`;
    const logged = await idOf(gateway.post(CHAT, chat('thirteen'), { authorization }));
    const unkept = await idOf(gateway.post(CHAT, chat('thirteen')));
    expect(texts((await contentOf(logged)).prompt)).toContain('thirteen');
    expect(await countContents(unkept)).toBe(0);
    expect((await asOwner('PATCH', path, { content_log: 'yes' })).status).toBe(400);
  });

  it('can be disabled and deleted by operators, who cannot read it', async () => {
    const path = `/v1/admin/content-log/${gateway.tenantId}`;
    expect(await (await gateway.admin('GET', path)).json()).toMatchObject({ enabled: null });
    const changed = await gateway.admin('PATCH', path, { enabled: false });
    expect(await changed.json()).toMatchObject({ enabled: false, is_on: false });
    expect((await gateway.admin('PATCH', path, { enabled: 1 })).status).toBe(400);
    expect((await gateway.admin('PATCH', path, {})).status).toBe(400);
    expect((await gateway.admin('DELETE', path)).status).toBe(200);
    for (const id of ['no-id', '00000000-0000-4000-8000-000000000000']) {
      expect((await gateway.admin('GET', `/v1/admin/content-log/${id}`)).status).toBe(404);
    }
    const content = await gateway.admin('GET', pathOf(gateway.tenantId));
    expect(content.status).toBe(401);
    await gateway.admin('PATCH', path, { enabled: null });
    const { rows } = await own.database.query(
      `SELECT before, after FROM audit_log
       WHERE action = 'content_log.update' AND actor_kind = 'admin_key' ORDER BY id`,
    );
    expect(rows).toEqual([
      { before: { enabled: null }, after: { enabled: false } },
      { before: { enabled: false }, after: { enabled: null } },
    ]);
  });

  it('cannot be enabled where the service does not store content', async () => {
    const closed = await bootGateway(
      { GATEWAY_BOOTSTRAP_API_KEY: gateway.apiKey },
      { database: own },
    );
    try {
      const response = await closed.admin('PATCH', `/v1/admin/content-log/${gateway.tenantId}`, {
        enabled: true,
      });
      expect(response.status).toBe(403);
      expect(await response.json()).toMatchObject({ error: { param: 'enabled' } });
    } finally {
      await closed.close();
    }
  });
});
