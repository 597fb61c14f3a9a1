import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { withAliases, type ApiDescription } from '../support/api-description.js';
import {
  bootCustomerGateways,
  nextAddress,
  refusal,
  type CustomerGateways,
  type JsonAnswer,
} from '../support/customer-gateways.js';

type KeyType = 'routing' | 'management';

/** A tenant's resources that paths name, and how they are created. */
const THINGS = {
  'api-key': ['/v1/customer/api-keys', { name: 'made' }],
  guardrail: ['/v1/customer/guardrails', { name: 'made', rules: [{ type: 'secret' }] }],
  credential: ['/v1/customer/provider-credentials', { provider: 'openai', key: 'sk-of-vendor-1' }],
  destination: ['/v1/customer/broadcast/destinations', { url: 'http://127.0.0.1:9/traces' }],
  alert: [
    '/v1/customer/alerts',
    {
      name: 'made',
      kind: 'balance_below',
      condition: { credits: 1 },
      url: 'http://127.0.0.1:9/hook',
    },
  ],
  job: ['/v1/jobs', { model: 'sandbox/image', prompt: 'a barn' }],
  video: ['/v1/jobs', { model: 'sandbox/video', prompt: 'a barn' }],
  response: ['/v1/responses', { model: 'sandbox/echo', input: 'word' }],
  conversation: ['/v1/conversations', { items: [{ role: 'user', content: 'word' }] }],
  request: [
    '/v1/chat/completions',
    { model: 'sandbox/echo', messages: [{ role: 'user', content: 'word' }] },
  ],
} as const satisfies Record<string, readonly [string, object]>;

/** Resources that routing keys cannot create: a member who is not the last owner, an invitation. */
type OfPeople = 'member' | 'invitation';

interface Rule {
  /** The resource of the id in the path or query. */
  of?: keyof typeof THINGS | OfPeople;
  body?: object;
  /** Expected statuses for the tenant itself; 200 by default. */
  status?: readonly number[];
  /** The only key type that is allowed; both by default. */
  only?: KeyType;
}

const OWN: Rule = {};
const of = (thing: keyof typeof THINGS, rest: Rule = {}): Rule => ({ of: thing, ...rest });
const ofPeople = (thing: OfPeople, rest: Rule = {}): Rule => ({
  of: thing,
  only: 'management',
  ...rest,
});
const creates = (thing: keyof typeof THINGS): Rule => ({ body: THINGS[thing][1], status: [201] });
const asInference = (thing: keyof typeof THINGS, rest: Rule = {}): Rule =>
  of(thing, { only: 'routing', ...rest });
const SETS_LIMITS: Rule = { body: { max_in_flight: 1_000 }, only: 'management' };
/** A job may have ended before it is cancelled. */
const CANCELLED: Rule = { status: [200, 409] };

/** Every operation on a tenant's resources. A path below `/api` equals the one without. */
const RULES: Record<string, Rule> = {
  'GET /v1/customer/api-keys': OWN,
  'POST /v1/customer/api-keys': creates('api-key'),
  'GET /v1/customer/api-keys/{id}': of('api-key'),
  'PATCH /v1/customer/api-keys/{id}': of('api-key', { body: { name: 'changed' } }),
  'DELETE /v1/customer/api-keys/{id}': of('api-key'),
  'GET /v1/customer/guardrails': OWN,
  'POST /v1/customer/guardrails': creates('guardrail'),
  'POST /v1/customer/guardrails/test': { body: { text: 'Hello' } },
  'GET /v1/customer/guardrails/{id}': of('guardrail'),
  'PUT /v1/customer/guardrails/{id}': of('guardrail', { body: { is_enabled: false } }),
  'DELETE /v1/customer/guardrails/{id}': of('guardrail'),
  'GET /v1/customer/provider-credentials': OWN,
  'GET /v1/customer/provider-credentials/providers': OWN,
  'POST /v1/customer/provider-credentials': creates('credential'),
  'POST /v1/customer/provider-credentials/test': {
    body: THINGS.credential[1],
  },
  'POST /v1/customer/provider-credentials/{id}/test': of('credential'),
  'PATCH /v1/customer/provider-credentials/{id}': of('credential', { body: { weight: 2 } }),
  'DELETE /v1/customer/provider-credentials/{id}': of('credential'),
  'GET /v1/customer/broadcast/destinations': OWN,
  'POST /v1/customer/broadcast/destinations': creates('destination'),
  'GET /v1/customer/broadcast/destinations/{id}': of('destination'),
  'PUT /v1/customer/broadcast/destinations/{id}': of('destination', { body: { enabled: false } }),
  'DELETE /v1/customer/broadcast/destinations/{id}': of('destination'),
  'POST /v1/customer/broadcast/destinations/{id}/test': of('destination'),
  'GET /v1/customer/audit-log': OWN,
  'GET /v1/customer/audit-log/export.csv': OWN,
  'GET /v1/customer/audit-log/export.jsonl': OWN,
  'GET /v1/customer/alerts': OWN,
  'POST /v1/customer/alerts': creates('alert'),
  'GET /v1/customer/alerts/{id}': of('alert'),
  'PATCH /v1/customer/alerts/{id}': of('alert', { body: { enabled: false } }),
  'DELETE /v1/customer/alerts/{id}': of('alert'),
  'POST /v1/customer/alerts/{id}/test': of('alert'),
  'GET /v1/customer/alert-events': OWN,
  'GET /v1/customer/settings': OWN,
  'PATCH /v1/customer/settings': { only: 'management', body: { recovery: 'off' } },
  'GET /v1/customer/limits': OWN,
  'PUT /v1/customer/limits': SETS_LIMITS,
  'GET /v1/customer/end-users': OWN,
  'GET /v1/customer/end-users/default-limits': OWN,
  'PUT /v1/customer/end-users/default-limits': SETS_LIMITS,
  'GET /v1/customer/end-users/{end_user}/limits': OWN,
  'PUT /v1/customer/end-users/{end_user}/limits': SETS_LIMITS,
  'DELETE /v1/customer/end-users/{end_user}/limits': { only: 'management', status: [200, 404] },
  'GET /v1/customer/logs': OWN,
  'GET /v1/customer/logs/export.csv': OWN,
  'GET /v1/customer/logs/newer': OWN,
  'GET /v1/customer/logs/facets': OWN,
  'GET /v1/customer/logs/{request_id}': of('request'),
  'GET /v1/customer/receipts/{request_id}': of('request'),
  'GET /v1/customer/content-log': { only: 'management' },
  'PATCH /v1/customer/content-log': { only: 'management', body: { enabled: false } },
  'DELETE /v1/customer/content-log': { only: 'management' },
  // No content is stored: test/e2e/content-log.e2e-spec.ts.
  'GET /v1/customer/logs/{request_id}/content': of('request', {
    only: 'management',
    status: [404],
  }),
  'DELETE /v1/customer/logs/{request_id}/content': of('request', {
    only: 'management',
    status: [404],
  }),
  'GET /v1/customer/guardrail-events': OWN,
  'GET /v1/customer/guardrail-events/series': OWN,
  'GET /v1/customer/analytics': OWN,
  'GET /v1/customer/statements': OWN,
  'GET /v1/customer/statements/{month}': OWN,
  'GET /v1/customer/webhook-deliveries': OWN,
  'GET /v1/customer/ledger-entries': OWN,
  'GET /v1/customer/ledger-entries/export.csv': OWN,
  'GET /v1/customer/credits': OWN,
  'GET /v1/customer/credits/history': OWN,
  'GET /v1/customer/jobs': OWN,
  'GET /v1/customer/jobs/gallery': OWN,
  'GET /v1/customer/jobs/{id}': of('job'),
  'DELETE /v1/customer/jobs/{id}': of('job', CANCELLED),
  'GET /v1/customer/webhook-secret': { only: 'management' },
  'POST /v1/customer/webhook-secret/rotate': { only: 'management' },
  'GET /v1/customer/members': { only: 'management' },
  'PATCH /v1/customer/members/{id}': ofPeople('member', { body: { role: 'viewer' } }),
  'DELETE /v1/customer/members/{id}': ofPeople('member', { status: [204] }),
  'GET /v1/customer/invitations': { only: 'management' },
  'POST /v1/customer/invitations': {
    only: 'management',
    body: { email: 'made@acme.example', role: 'viewer' },
    // Already invited.
    status: [201, 409],
  },
  'DELETE /v1/customer/invitations/{id}': ofPeople('invitation', { status: [204] }),
  'GET /v1/generation': of('request'),
  'GET /api/v1/key': OWN,
  'GET /api/v1/credits': { only: 'management' },
  'GET /v1/jobs/{id}': asInference('job'),
  'DELETE /v1/jobs/{id}': asInference('job', CANCELLED),
  'GET /v1/images/{id}': asInference('job'),
  'DELETE /v1/images/{id}': asInference('job', CANCELLED),
  'GET /v1/videos': { only: 'routing' },
  'GET /v1/videos/{id}': asInference('video'),
  // It may be ready by then.
  'GET /v1/videos/{id}/content': asInference('video', CANCELLED),
  'DELETE /v1/videos/{id}': asInference('video', CANCELLED),
  'GET /v1/responses/{id}': asInference('response'),
  'DELETE /v1/responses/{id}': asInference('response'),
  'GET /v1/responses/{id}/input_items': asInference('response'),
  'GET /v1/conversations/{id}': asInference('conversation'),
  'POST /v1/conversations/{id}': asInference('conversation', { body: { metadata: { a: 'b' } } }),
  'DELETE /v1/conversations/{id}': asInference('conversation'),
  'GET /v1/conversations/{id}/items': asInference('conversation'),
  'POST /v1/conversations/{id}/items': asInference('conversation', {
    body: { items: [{ role: 'user', content: 'more' }] },
  }),
  'GET /v1/conversations/{id}/items/{item_id}': asInference('conversation'),
  'DELETE /v1/conversations/{id}/items/{item_id}': asInference('conversation'),
};

interface Operation {
  tags?: string[];
}

/** Returns whether an operation calls a model, is the same for every tenant, or needs no key. */
function isOfNoTenant(method: string, path: string, { tags = [] }: Operation): boolean {
  if (path.startsWith('/v1/customer/') || path.includes('/conversations/{id}')) return false;
  if (tags.some((tag) => ['Catalogue', 'Operations', 'Artifacts', 'Admin', 'Login'].includes(tag)))
    return true;
  return method === 'post' && tags.some((tag) => ['Inference', 'Jobs'].includes(tag));
}

const KEY_ERROR = refusal(401, 'authentication_error', 'authorization');
const RIGHTS_ERROR = refusal(403, 'permission_error', 'authorization');

let set: CustomerGateways;
/** Values that no answer to another tenant may contain. */
const secrets = new Set<string>();
const uselessKeys: string[] = [];
const otherKeys = {} as Record<KeyType, string>;
let documented: string[];

beforeAll(async () => {
  set = await bootCustomerGateways({
    GATEWAY_ALLOW_PRIVATE_DESTINATIONS: 'true',
    // Enough for hundreds of videos.
    GATEWAY_BOOTSTRAP_CREDITS: '1000000000',
    GATEWAY_SECRET: 'the-secret-that-both-instances-share',
  });
  const { access, gateway } = set;
  const { tenantId } = gateway;
  const revoked = await access.makeKey({ tenantId });
  await access.apiKeys.revoke(tenantId, revoked.id);
  const expired = await access.makeKey({ tenantId, expiresAt: new Date('2020-01-01') });
  uselessKeys.push('', revoked.plaintext, expired.plaintext, 'sk-unknown-key-of-nobody');
  const otherId = await access.makeTenant('other');
  for (const type of ['routing', 'management'] as const) {
    const key = await access.makeKey({ tenantId: otherId, type, rateLimitPerMinute: 100_000 });
    otherKeys[type] = key.plaintext;
  }
  for (const thing of Object.keys(THINGS) as (keyof typeof THINGS)[]) await make(thing);
  const { secret } = (
    await set.call('GET', '/v1/customer/webhook-secret', undefined, gateway.managementKey)
  ).body;
  secrets.add(secret as string);

  const { body } = await set.call('GET', '/docs-json', undefined, '');
  documented = Object.entries(withAliases(body as unknown as ApiDescription<Operation>)).flatMap(
    ([path, operations]) =>
      Object.entries(operations)
        .filter(([method, operation]) => !isOfNoTenant(method, path, operation))
        .map(([method]) => `${method.toUpperCase()} ${path}`),
  );
});
afterAll(() => set.close());

/** Resources whose number per tenant is limited. */
const FEW = ['/v1/customer/broadcast/destinations', '/v1/customer/alerts'];

async function removeAll(path: string): Promise<void> {
  const { data } = (await set.call('GET', path)).body as { data: { id: string }[] };
  for (const { id } of data) {
    await set.call('DELETE', `${path}/${id}`, undefined, set.gateway.managementKey);
  }
}

/** Creates a resource with the tenant's routing key and returns its id. */
async function make(thing: keyof typeof THINGS): Promise<string> {
  const [path, body] = THINGS[thing];
  const response = await set.gateway.post(path, body);
  expect(response.status).toBeLessThan(300);
  const made = (await response.json()) as { id: string };
  const id = thing === 'request' ? response.headers.get('x-request-id')! : made.id;
  secrets.add(id);
  return id;
}

async function makeAny(thing: keyof typeof THINGS | OfPeople): Promise<string> {
  if (thing !== 'member' && thing !== 'invitation') return make(thing);
  const { tenantId, database } = set.gateway;
  const { rows } = await database.query<{ id: string }>(
    thing === 'member'
      ? `WITH person AS (
           INSERT INTO people (issuer, subject, name) VALUES ('i', gen_random_uuid(), 'Ada') RETURNING id
         ) INSERT INTO memberships (person_id, tenant_id, role)
           SELECT id, $1, 'developer' FROM person RETURNING person_id AS id`
      : `INSERT INTO invitations (email, tenant_id, role, invited_by, expires_at)
         VALUES (gen_random_uuid(), $1, 'viewer', 'a test', now() + interval '1 day') RETURNING id`,
    [tenantId],
  );
  secrets.add(rows[0]!.id);
  return rows[0]!.id;
}

interface Call {
  method: string;
  path: string;
  body: object | undefined;
}

/** Returns a call of the operation on a new resource. */
async function callOf(operation: string): Promise<Call> {
  const [method, template] = operation.split(' ') as [string, string];
  const rule = ruleOf(operation);
  const id = rule.of && (await makeAny(rule.of));
  const path = template
    .replace('{id}', id ?? '')
    .replace('{request_id}', id ?? '')
    .replace('{end_user}', 'someone')
    .replace('{item_id}', template.includes('{item_id}') ? await itemOf(id!) : '')
    .replace('{month}', new Date().toISOString().slice(0, 7));
  const isInPath = template.includes('{request_id}');
  const query = rule.of === 'request' && !isInPath ? `?id=${id}` : '';
  return { method, path: path + query, body: rule.body };
}

async function itemOf(conversation: string): Promise<string> {
  const { body } = await set.call('GET', `/v1/conversations/${conversation}/items`);
  const [item] = (body as { data: { id: string }[] }).data;
  secrets.add(item!.id);
  return item!.id;
}

function ruleOf(operation: string): Rule {
  return RULES[operation] ?? RULES[operation.replace(' /api/', ' /')]!;
}

function send({ method, path, body }: Call, key: string, instance = set.gateway): Promise<Answer> {
  return fetch(instance.url + path, {
    method,
    headers: {
      'x-forwarded-for': nextAddress(),
      ...(key !== '' && { authorization: `Bearer ${key}` }),
      ...(body && { 'content-type': 'application/json' }),
    },
    body: body && JSON.stringify(body),
  }).then(async (response) => ({ status: response.status, text: await response.text() }));
}

interface Answer {
  status: number;
  text: string;
}

const json = ({ status, text }: Answer): JsonAnswer => ({
  status,
  body: JSON.parse(text) as JsonAnswer['body'],
});

const MIRRORED = ['generation', 'jobs', 'images', 'videos', 'responses', 'conversations'];
const OPERATIONS = Object.keys(RULES).flatMap((operation) =>
  MIRRORED.some((name) => operation.includes(` /v1/${name}`))
    ? [operation, operation.replace(' /', ' /api/')]
    : [operation],
);

describe("a tenant's account", () => {
  it('has every described operation in this table, and no others', () => {
    expect(documented.sort()).toEqual([...OPERATIONS].sort());
  });

  describe.each(OPERATIONS)('%s', (operation) => {
    const { of: thing, status = [200], only } = ruleOf(operation);
    const isChange = !operation.startsWith('GET');
    const named = operation.includes('{request_id}') ? 'request_id' : 'id';
    const few = FEW.find((path) => operation.includes(` ${path}`));

    /** On an unchanged resource. */
    let call: Call;

    beforeAll(async () => {
      call = await callOf(operation);
    });
    if (few) afterAll(() => removeAll(few));
    const nextCall = async (): Promise<Call> => (isChange ? callOf(operation) : call);

    it('answers 401 without a key, and with a revoked, expired or unknown one', async () => {
      const answers = await Promise.all(uselessKeys.map((key) => send(call, key)));
      for (const answer of answers) expect(json(answer)).toEqual(KEY_ERROR);
    });

    it("shows nothing to another tenant's keys, and lets them change nothing", async () => {
      for (const type of ['routing', 'management'] as const) {
        const answer = await send(call, otherKeys[type]);
        if (only !== undefined && only !== type) expect(json(answer)).toEqual(RIGHTS_ERROR);
        else if (thing) expect(json(answer)).toEqual(refusal(404, 'not_found_error', named));
        else expect(status).toContain(answer.status);
        // An error may repeat the requested id.
        const leaked = [...secrets].filter((secret) => answer.text.includes(secret));
        expect(leaked.filter((secret) => !call.path.includes(secret))).toEqual([]);
      }
      const own = only === 'management' ? set.gateway.managementKey : set.gateway.apiKey;
      const { status: answered } = await send(call, own);
      expect(status).toContain(answered);
    });

    it.each(['routing', 'management'] as const)('answers its %s key as expected', async (type) => {
      const key = type === 'routing' ? set.gateway.apiKey : set.gateway.managementKey;
      const answer = await send(await nextCall(), key);
      if (only !== undefined && only !== type) expect(json(answer)).toEqual(RIGHTS_ERROR);
      else expect(status).toContain(answer.status);
    });

    it('restricts account changes to management keys if configured', async () => {
      const isRestricted = isChange && operation.includes(' /v1/customer/');
      const ofRestricted = await nextCall();
      const routing = await send(ofRestricted, set.gateway.apiKey, set.restricted);
      if (isRestricted || only === 'management') expect(json(routing)).toEqual(RIGHTS_ERROR);
      else expect(status).toContain(routing.status);
      if (!isRestricted) return;
      const management = await send(ofRestricted, set.gateway.managementKey, set.restricted);
      expect(status).toContain(management.status);
    });
  });
});
