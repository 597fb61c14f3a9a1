import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import type { AccessServices } from '../support/access-services.js';
import type { BootedGateway } from '../support/boot-gateway.js';
import {
  bootCustomerGateways,
  refusal,
  type CustomerGateways,
} from '../support/customer-gateways.js';

const PATH = '/v1/customer/guardrails';
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const RULES = [{ type: 'regex', pattern: 'falcon' }];

describe(PATH, () => {
  let gateways: CustomerGateways;
  let access: AccessServices;
  let gateway: BootedGateway;
  let restricted: BootedGateway;
  let call: CustomerGateways['call'];

  beforeAll(async () => {
    gateways = await bootCustomerGateways();
    ({ access, gateway, restricted, call } = gateways);
  });
  afterAll(() => gateways.close());

  async function create(fields: object = {}): Promise<Record<string, unknown> & { id: string }> {
    const { status, body } = await call('POST', PATH, { name: 'a', rules: RULES, ...fields });
    expect(status).toBe(201);
    return body as Record<string, unknown> & { id: string };
  }

  it('creates one with the default values', async () => {
    expect(await create({ name: 'no falcon' })).toEqual({
      id: expect.stringMatching(UUID),
      name: 'no falcon',
      description: null,
      rules: RULES,
      action: 'block',
      applies_to: ['input'],
      is_enabled: true,
      trigger_count: 0,
      created_at: expect.stringMatching(ISO),
    });
  });

  it('stores every rule type and any characters unchanged', async () => {
    const fields = {
      name: 'NUL \u0000, \ud800 alone, back\\slash, 😀',
      description: 'why \u0000',
      rules: [
        { type: 'regex', pattern: 'a\\d+\u0000', flags: 'ims' },
        { type: 'keyword', words: ['top secret', '#x', '\ud800'] },
        { type: 'pii', entities: ['email', 'phone', 'credit_card', 'ssn', 'iban', 'ip'] },
        { type: 'secret' },
        { type: 'max_length', max: 5 },
      ],
      action: 'flag',
      applies_to: ['output', 'input'],
      is_enabled: false,
    };
    const made = await create(fields);
    expect(made).toMatchObject(fields);
    expect((await call('GET', `${PATH}/${made.id}`)).body).toMatchObject(fields);
    const { body } = await call('GET', PATH);
    expect((body.data as { id: string }[])[0]).toMatchObject({ id: made.id, ...fields });
  });

  it('changes the fields of PUT, replaces rules as a whole, and deletes', async () => {
    const { id, created_at } = await create({ description: 'old', action: 'log' });
    const rules = [{ type: 'secret' }];
    const path = `${PATH}/${id}`;
    const { status, body } = await call('PUT', path, { rules, is_enabled: false });
    expect(status).toBe(200);
    expect(body).toEqual({
      id,
      name: 'a',
      description: 'old',
      rules,
      action: 'log',
      applies_to: ['input'],
      is_enabled: false,
      trigger_count: 0,
      last_triggered_at: null,
      created_at,
      updated_at: expect.stringMatching(ISO),
    });
    const renamed = await call('PUT', path, { name: 'b', description: null, action: 'block' });
    expect(renamed.body).toMatchObject({ name: 'b', description: null, action: 'block', rules });
    expect((await call('PUT', path, {})).body).toMatchObject({ name: 'b', rules });

    expect(await call('DELETE', path)).toEqual({ status: 200, body: { id, deleted: true } });
    for (const method of ['GET', 'DELETE']) {
      expect(await call(method, path)).toEqual(refusal(404, 'not_found_error', 'id'));
    }
  });

  it.each([
    [{ rules: RULES }, 'name'],
    [{ name: '', rules: RULES }, 'name'],
    [{ name: 'n'.repeat(256), rules: RULES }, 'name'],
    [{ name: 'n' }, 'rules'],
    [{ name: 'n', rules: [] }, 'rules'],
    [{ name: 'n', rules: {} }, 'rules'],
    [{ name: 'n', rules: Array.from({ length: 10_000 }, () => RULES[0]) }, 'rules'],
    [{ name: 'n', rules: [1] }, 'rules.0'],
    [{ name: 'n', rules: [{ pattern: 'a' }] }, 'rules.0.type'],
    [{ name: 'n', rules: [{ type: 'llm' }] }, 'rules.0.type'],
    [{ name: 'n', rules: [{ type: 'regex' }] }, 'rules.0.pattern'],
    [{ name: 'n', rules: [...RULES, { type: 'regex', pattern: '(' }] }, 'rules.1.pattern'],
    [{ name: 'n', rules: [{ type: 'regex', pattern: '' }] }, 'rules.0.pattern'],
    [{ name: 'n', rules: [{ type: 'regex', pattern: '(?=a)' }] }, 'rules.0.pattern'],
    [{ name: 'n', rules: [{ type: 'regex', pattern: '(?<!a)b' }] }, 'rules.0.pattern'],
    [{ name: 'n', rules: [{ type: 'regex', pattern: '(a)\\1' }] }, 'rules.0.pattern'],
    [{ name: 'n', rules: [{ type: 'regex', pattern: 'a'.repeat(1_001) }] }, 'rules.0.pattern'],
    [{ name: 'n', rules: [{ type: 'regex', pattern: '(abc){900}' }] }, 'rules.0.pattern'],
    [{ name: 'n', rules: [{ type: 'regex', pattern: 'a', flags: 'x' }] }, 'rules.0.flags'],
    [{ name: 'n', rules: [{ type: 'regex', pattern: 'a', flags: 'ii' }] }, 'rules.0.flags'],
    [{ name: 'n', rules: [{ type: 'regex', pattern: 'a', more: 1 }] }, 'rules.0.more'],
    [{ name: 'n', rules: [{ type: 'keyword', words: [] }] }, 'rules.0.words'],
    [{ name: 'n', rules: [{ type: 'keyword', words: ['a', ' '] }] }, 'rules.0.words.1'],
    [{ name: 'n', rules: Array.from({ length: 11 }, () => manyWords(2)) }, 'rules'],
    [{ name: 'n', rules: [...RULES, manyWords(60), manyWords(60)] }, 'rules'],
    [{ name: 'n', rules: [{ type: 'pii', entities: ['shoe size'] }] }, 'rules.0.entities.0'],
    [{ name: 'n', rules: [{ type: 'pii' }] }, 'rules.0.entities'],
    [{ name: 'n', rules: [{ type: 'max_length', max: 0 }] }, 'rules.0.max'],
    [{ name: 'n', rules: RULES, action: 'explode' }, 'action'],
    [{ name: 'n', rules: RULES, action: null }, 'action'],
    [{ name: 'n', rules: RULES, applies_to: [] }, 'applies_to'],
    [{ name: 'n', rules: RULES, applies_to: ['input', 'input'] }, 'applies_to'],
    [{ name: 'n', rules: RULES, applies_to: ['tools'] }, 'applies_to'],
    [{ name: 'n', rules: RULES, is_enabled: 'yes' }, 'is_enabled'],
    [{ name: 'n', rules: RULES, description: 5 }, 'description'],
    [{ name: 'n', rules: RULES, tenant_id: randomUUID() }, 'tenant_id'],
    [{ name: 'n', rules: RULES, trigger_count: 0 }, 'trigger_count'],
  ])('answers 400 and names the field, case %#', async (body, param) => {
    expect(await call('POST', PATH, body)).toEqual(refusal(400, 'invalid_request_error', param));
  });

  it('leaves a guardrail unchanged when a change is rejected', async () => {
    const { id } = await create();
    const path = `${PATH}/${id}`;
    for (const [body, param] of [
      [{ rules: [{ type: 'regex', pattern: '[' }], name: 'x' }, 'rules.0.pattern'],
      [{ rules: null }, 'rules'],
      [{ name: null }, 'name'],
      [{ id: randomUUID() }, 'id'],
    ] as const) {
      expect(await call('PUT', path, body)).toEqual(refusal(400, 'invalid_request_error', param));
    }
    expect((await call('GET', path)).body).toMatchObject({ name: 'a', rules: RULES });
  });

  it('shows nothing of it to another tenant', async () => {
    const { id } = await create({ name: 'mine' });
    const tenantId = await access.makeTenant(randomUUID());
    const { plaintext } = await access.makeKey({ tenantId });
    const unknown = refusal(404, 'not_found_error', 'id');
    for (const path of [`${PATH}/${id}`, `${PATH}/${randomUUID()}`, `${PATH}/no-uuid`]) {
      expect(await call('GET', path, undefined, plaintext)).toEqual(unknown);
      expect(await call('PUT', path, { name: 'theirs' }, plaintext)).toEqual(unknown);
      expect(await call('DELETE', path, undefined, plaintext)).toEqual(unknown);
    }
    expect((await call('GET', PATH, undefined, plaintext)).body).toEqual({ data: [] });
    expect((await call('GET', `${PATH}/${id}`)).body).toMatchObject({ id, name: 'mine' });
  });

  it('requires a valid key', async () => {
    const { id, plaintext } = await access.makeKey({ tenantId: gateway.tenantId });
    await access.apiKeys.revoke(gateway.tenantId, id);
    const refused = refusal(401, 'authentication_error', 'authorization');
    for (const key of ['', 'sk-unknown-key-0123456789', plaintext]) {
      expect(await call('GET', PATH, undefined, key)).toEqual(refused);
      expect(await call('POST', PATH, { name: 'n', rules: RULES }, key)).toEqual(refused);
      expect(await call('PUT', `${PATH}/${id}`, {}, key)).toEqual(refused);
      expect(await call('DELETE', `${PATH}/${id}`, undefined, key)).toEqual(refused);
    }
  });

  it('lets only management keys change it if the operator restricts it', async () => {
    const { id } = await create();
    const path = `${PATH}/${id}`;
    const refused = refusal(403, 'permission_error', 'authorization');
    const body = { name: 'n', rules: RULES };
    const routing = gateway.apiKey;
    expect((await call('GET', path, undefined, routing, restricted)).status).toBe(200);
    expect(await call('POST', PATH, body, routing, restricted)).toEqual(refused);
    expect(await call('PUT', path, body, routing, restricted)).toEqual(refused);
    expect(await call('DELETE', path, undefined, routing, restricted)).toEqual(refused);

    const management = gateway.managementKey;
    expect((await call('POST', PATH, body, management, restricted)).status).toBe(201);
    expect((await call('PUT', path, body, management, restricted)).status).toBe(200);
    expect((await call('DELETE', path, undefined, management, restricted)).status).toBe(200);
  });

  describe('POST test', () => {
    const test = (body: object) => call('POST', `${PATH}/test`, body);

    it('shows where unsaved rules match, and that a request would be rejected', async () => {
      const text = 'Project Falcon: ask ada@example.com or bob@example.com about falcon.';
      const rules = [
        { type: 'regex', pattern: 'falcon', flags: 'i' },
        { type: 'keyword', words: ['eagle'] },
        { type: 'pii', entities: ['email'] },
        { type: 'max_length', max: 10 },
      ];
      const { status, body } = await test({ text, rules });
      expect(status).toBe(200);
      const about = {
        guardrail_id: null,
        guardrail_name: null,
        action: 'block',
        is_finished: true,
      };
      const at = (found: string, from = 0) => {
        const start = text.indexOf(found, from);
        return { start, end: start + found.length };
      };
      expect(body).toEqual({
        is_blocked: true,
        is_flagged: false,
        matches: [
          { ...about, rule_index: 0, rule_type: 'regex', places: [at('Falcon'), at('falcon')] },
          {
            ...about,
            rule_index: 2,
            rule_type: 'pii',
            places: [at('ada@example.com'), at('bob@example.com')],
          },
          { ...about, rule_index: 3, rule_type: 'max_length', places: [] },
        ],
      });
      expect((await test({ text, rules, action: 'flag' })).body).toMatchObject({
        is_blocked: false,
        is_flagged: true,
      });
      expect((await test({ text: 'Hello', rules: RULES })).body).toEqual({
        is_blocked: false,
        is_flagged: false,
        matches: [],
      });
    });

    it("tests the tenant's enabled guardrails, and counts nothing", async () => {
      const pattern = `word-${randomUUID()}`;
      const rules = [{ type: 'secret' }, { type: 'regex', pattern }];
      const { id } = await create({ name: 'mine', rules, action: 'log', applies_to: ['output'] });
      const off = await create({ rules, is_enabled: false, applies_to: ['output'] });
      const text = `a ${pattern} b`;
      const { body } = await test({ text, direction: 'output' });
      const { matches } = body as { matches: { guardrail_id: string }[] };
      expect(matches.filter((match) => [id, off.id].includes(match.guardrail_id))).toEqual([
        {
          guardrail_id: id,
          guardrail_name: 'mine',
          action: 'log',
          rule_index: 1,
          rule_type: 'regex',
          is_finished: true,
          places: [{ start: 2, end: 2 + pattern.length }],
        },
      ]);
      expect(JSON.stringify((await test({ text })).body)).not.toContain(id);
      expect((await call('GET', `${PATH}/${id}`)).body).toMatchObject({ trigger_count: 0 });
    });

    it('ends with many matches, including empty ones', async () => {
      const rules = [{ type: 'regex', pattern: 'x*' }];
      const { body } = await test({ text: 'y'.repeat(20_000), rules });
      const { matches } = body as { matches: { places: object[] }[] };
      expect(matches[0]!.places).toHaveLength(20);
    });

    it.each([
      [{}, 'text'],
      [{ text: '' }, 'text'],
      [{ text: 'y'.repeat(20_001) }, 'text'],
      [{ text: 'y', rules: [{ type: 'regex', pattern: '(' }] }, 'rules.0.pattern'],
      [{ text: 'y', direction: 'both' }, 'direction'],
      [{ text: 'y', store: true }, 'store'],
    ])('rejects %#', async (body, param) => {
      expect(await test(body)).toEqual(refusal(400, 'invalid_request_error', param));
    });
  });

  it('counts findings by day and hour', async () => {
    const tenantId = await access.makeTenant(randomUUID());
    const { plaintext } = await access.makeKey({ tenantId });
    const [one, two] = [randomUUID(), randomUUID()];
    const insert = (id: string, time: string) =>
      gateway.database.query(
        `INSERT INTO guardrail_events
           (tenant_id, guardrail_id, request_id, action, direction, created_at)
         VALUES ($1, $2, gen_random_uuid(), 'block', 'input', $3)`,
        [tenantId, id, time],
      );
    await insert(one, '2026-01-01T10:59:59Z');
    await insert(one, '2026-01-01T11:00:00Z');
    await insert(two, '2026-01-02T00:00:00Z');
    const series = async (query: string) =>
      call('GET', `/v1/customer/guardrail-events/series?${query}`, undefined, plaintext);
    const of = (time: string, guardrail_id: string, count: number) => {
      return { time, guardrail_id, action: 'block', direction: 'input', count };
    };
    const days = 'start_date=2026-01-01&end_date=2026-01-02';
    expect((await series(days)).body).toEqual({
      data: [of('2026-01-01T00:00:00.000Z', one, 2), of('2026-01-02T00:00:00.000Z', two, 1)],
    });
    expect((await series(`${days}&interval=hour&guardrail_id=${one}`)).body).toEqual({
      data: [of('2026-01-01T10:00:00.000Z', one, 1), of('2026-01-01T11:00:00.000Z', one, 1)],
    });
    expect((await series('')).body).toEqual({ data: [] });
    for (const [query, param] of [
      ['interval=hour&start_date=2026-01-01&end_date=2026-03-01', 'start_date'],
      ['interval=week', 'interval'],
      ['guardrail_id=x', 'guardrail_id'],
    ] as const) {
      expect(await series(query)).toEqual(refusal(400, 'invalid_request_error', param));
    }
  });

  it('creates at most a hundred for a tenant', async () => {
    const tenantId = await access.makeTenant(randomUUID());
    const { plaintext } = await access.makeKey({ tenantId });
    const body = { name: 'n', rules: [{ type: 'secret' }] };
    const answers = await Promise.all(
      Array.from({ length: 103 }, () => call('POST', PATH, body, plaintext)),
    );
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(100);
    const refused = answers.filter(({ status }) => status !== 201);
    expect(refused[0]).toEqual(refusal(400, 'invalid_request_error', 'guardrails'));
    expect(refused).toHaveLength(3);
  });

  it('limits the memory of a tenant’s rules', async () => {
    const tenantId = await access.makeTenant(randomUUID());
    const { plaintext } = await access.makeKey({ tenantId });
    const large = { name: 'n', rules: [manyWords(98)] };
    const made = await Promise.all(
      Array.from({ length: 12 }, () => call('POST', PATH, large, plaintext)),
    );
    const created = made.filter(({ status }) => status === 201);
    expect(created.length).toBeLessThan(11);
    expect(made.find(({ status }) => status !== 201)).toEqual(
      refusal(400, 'invalid_request_error', 'rules'),
    );
    const { id } = created[0]!.body as { id: string };
    const change = (body: object) => call('PUT', `${PATH}/${id}`, body, plaintext);
    const longer = { rules: [manyWords(98), { type: 'regex', pattern: 'a'.repeat(999) }] };
    const small = { name: 'n', rules: [manyWords(2)] };
    // Fills up the remaining room.
    while ((await call('POST', PATH, small, plaintext)).status === 201);
    expect(await change({ rules: [...longer.rules, ...longer.rules.slice(1)] })).toEqual(
      refusal(400, 'invalid_request_error', 'rules'),
    );
    expect((await change({ name: 'other' })).status).toBe(200);
    expect((await change({ rules: small.rules })).status).toBe(200);
  });
});

/** A rule with the maximum number of words. */
function manyWords(length: number): object {
  const words = Array.from({ length: 1_000 }, (_, index) => String(index).padStart(length, 'w'));
  return { type: 'keyword', words };
}
