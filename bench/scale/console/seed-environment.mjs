/** Resources of the seeded system, created over the gateway's API, so that they are in the audit log. */
import { setTimeout as wait } from 'node:timers/promises';

const NAMES = [
  ...[
    'Northwind',
    'Contoso',
    'Initech',
    'Umbra Labs',
    'Hooli',
    'Globex',
    'Stark Tools',
    'Wayne Freight',
    'Tyrell',
    'Cyberdyne',
  ],
  ...[
    'Aperture',
    'Soylent',
    'Vandelay',
    'Pied Piper',
    'Massive Dynamic',
    'Oscorp',
    'Gringotts',
    'Monarch',
    'Duff',
    'Wonka',
  ],
  ...[
    'Bluth Homes',
    'Dunder Paper',
    'Sterling',
    'Prestige',
    'Virtucon',
    'Zorin',
    'Nakatomi',
    'Weyland',
    'Yoyodyne',
    'Octan',
  ],
  ...[
    'Lacuna',
    'Rekall',
    'Sirius',
    'Spacely',
    'Cogswell',
    'Planet Express',
    'MomCorp',
    'Strickland',
    'Buy n Large',
    'Axiom',
  ],
  ...[
    'Kruger',
    'Krusty',
    'Burns Power',
    'Primatech',
    'Veridian',
    'Delos',
    'InGen',
    'Biosyn',
    'Abstergo',
  ],
];

const ACME_KEYS = [
  ['checkout', { budgets: [{ period: 'day', credits: 900_000_000 }], requests_per_minute: 2_000 }],
  ['support bot', { budgets: [{ period: 'month', credits: 40_000_000_000 }] }],
  ['search', { models: { allow: ['openai/*'], deny: [] } }],
  ['nightly summaries', { max_in_flight: 20 }],
  ['mobile app', { tokens_per_minute: 4_000_000 }],
  ['data science', null],
  ['staging', { budgets: [{ period: 'total', credits: 5_000_000 }] }],
  ['partner portal', null],
];

/**
 * Creates tenants, keys, guardrails, alerts and everything else of a gateway in use, and makes some calls
 * and jobs.
 *
 * @param api of `apiOf`, with the admin key
 * @param vendorUrl receives webhooks and traces
 * @returns ids and keys for testers, and the tenants to seed rows for
 */
export async function furnish(api, vendorUrl) {
  const acme = await api.post('/v1/admin/tenants', {
    ...{ name: 'acme', credits: 50_000_000, memo: 'First order', keys: ['routing', 'management'] },
  });
  const [routing, management] = ['routing', 'management'].map((type) =>
    acme.keys.find((key) => key.type === type),
  );
  const owner = api.as(management.key);
  const keys = [routing.id];
  for (const [name, limits] of ACME_KEYS) {
    keys.push((await owner.post('/v1/customer/api-keys', { name, ...(limits && { limits }) })).id);
  }
  const revoked = await owner.post('/v1/customer/api-keys', { name: 'lost laptop' });
  await owner.delete(`/v1/customer/api-keys/${revoked.id}`);
  const others = await Promise.all(NAMES.map((name, index) => makeTenant(api, name, index)));
  await furnishAcme(owner, acme.id, api, vendorUrl);
  await call(api.as(routing.key));
  await runJobs(api.as(routing.key));
  await operate(api, others, vendorUrl);
  return {
    acme: { id: acme.id, routingKey: routing.key, managementKey: management.key },
    tenants: [
      // 70 of 100 rows; enough credits for seven weeks.
      { id: acme.id, keys, weight: 70, users: 400, balanceDays: 50 },
      ...others.map(({ id, key }, index) => ({
        ...{
          id,
          keys: [key],
          users: 12,
          balanceDays: index === 3 ? 0.4 : 10 + ((index * 37) % 90),
        },
        weight: 30 / NAMES.length / (0.35 + index / 20),
      })),
    ],
  };
}

async function makeTenant(api, name, index) {
  const tenant = await api.post('/v1/admin/tenants', {
    ...{ name, credits: 5_000_000, memo: `Contract ${2_600 + index}`, keys: ['routing'] },
    ...(index % 7 === 2 && { monthly_spend_limit: 50_000_000_000 }),
  });
  return { id: tenant.id, key: tenant.keys[0].id };
}

async function furnishAcme(owner, tenantId, api, vendorUrl) {
  const rails = [
    { name: 'No secrets', rules: [{ type: 'secret' }], action: 'block', applies_to: ['input'] },
    {
      name: 'Personal data',
      rules: [{ type: 'pii', entities: ['email', 'phone', 'iban'] }],
      action: 'flag',
      applies_to: ['input', 'output'],
    },
    {
      name: 'Competitors',
      rules: [{ type: 'keyword', words: ['northwind', 'contoso'] }],
      action: 'log',
      applies_to: ['output'],
    },
    {
      name: 'Project names',
      description: 'Unannounced projects.',
      rules: [{ type: 'regex', pattern: 'project-(zeus|hera)', flags: 'i' }],
      action: 'flag',
    },
    {
      name: 'Short prompts',
      rules: [{ type: 'max_length', max: 20_000 }],
      action: 'log',
      is_enabled: false,
    },
  ];
  for (const rail of rails) await owner.post('/v1/customer/guardrails', rail);
  await owner.post('/v1/customer/provider-credentials', {
    provider: 'openai',
    name: 'Our contract',
    key: 'sk-proj-0123456789abcdef',
  });
  await owner.post('/v1/customer/provider-credentials', {
    provider: 'anthropic',
    key: 'sk-ant-0123456789abcdef',
  });
  for (const path of ['traces', 'gone']) {
    await owner.post('/v1/customer/broadcast/destinations', {
      url: `${vendorUrl}/${path}`,
      headers: { authorization: 'Bearer abc' },
    });
  }
  const hook = (name, kind, condition) => ({
    name,
    kind,
    condition,
    url: `${vendorUrl}/hooks/${kind}`,
  });
  await owner.post(
    '/v1/customer/alerts',
    hook('Credits run out', 'balance_below', { credits: 5_000_000_000_000 }),
  );
  await owner.post('/v1/customer/alerts', hook('Budgets', 'budget', { thresholds: [50, 80, 100] }));
  await owner.post('/v1/customer/alerts', hook('Too many errors', 'error_rate', { percent: 10 }));
  await owner.put('/v1/customer/limits', {
    budgets: [{ period: 'month', credits: 900_000_000_000 }],
    requests_per_minute: 50_000,
  });
  await owner.put('/v1/customer/end-users/default-limits', { requests_per_minute: 600 });
  await owner.put('/v1/customer/end-users/user-0007/limits', {
    budgets: [{ period: 'day', credits: 2_000_000 }],
  });
  await owner.patch('/v1/customer/content-log', { enabled: true });
  for (const [email, role] of [
    ['emmy@acme.example', 'developer'],
    ['kurt@acme.example', 'viewer'],
  ]) {
    await api.post(`/v1/admin/tenants/${tenantId}/members`, { email, role });
  }
}

/** Makes real calls, so that there are receipts, stored content and attempts to look at. */
async function call(app) {
  const chat = (model, content, more = {}) => ({
    model,
    messages: [{ role: 'user', content }],
    user: 'user-0007',
    ...more,
  });
  const tags = { 'X-Gateway-Tags': 'team=support,feature=chat' };
  const bodies = [
    chat('sandbox/echo', 'What are your opening hours?'),
    chat('sandbox/words', '40 words, please', {
      stream: true,
      stream_options: { include_usage: true },
    }),
    chat('sandbox/echo', 'Please write to ada@acme.example about project-zeus.'),
    {
      ...chat('sandbox/fault-503', 'Is anybody there?'),
      models: ['sandbox/fault-503', 'sandbox/echo'],
    },
  ];
  for (const body of bodies) await app.post('/v1/chat/completions', body, tags);
  await app.send('POST', '/v1/chat/completions', chat('sandbox/fault-500', 'This fails.'), tags);
  await app.send(
    'POST',
    '/v1/chat/completions',
    chat('sandbox/echo', 'My key is sk-proj-abcdefghijklmnopqrstuvwx0123456789.'),
    tags,
  );
  await app.post('/v1/messages', {
    ...chat('sandbox/echo', 'Hello!'),
    user: undefined,
    max_tokens: 50,
  });
  await app.post('/v1/responses', { model: 'sandbox/echo', input: 'Hello!' });
  await app.post('/v1/embeddings', {
    model: 'sandbox/embed',
    input: ['a red apple', 'a green apple'],
  });
}

async function runJobs(app) {
  const jobs = [
    ...[
      'A lighthouse at night',
      'A fox in the snow',
      'The plan of a small house',
      'Two cups of tea',
    ].map((prompt) => ({ model: 'sandbox/image', prompt })),
    { model: 'sandbox/video', prompt: 'Waves at a pier' },
    { model: 'sandbox/image-fault-400', prompt: 'This one fails' },
  ];
  const ids = [];
  for (const job of jobs) ids.push((await app.post('/v1/jobs', job)).id);
  const limitMs = Date.now() + 60_000;
  for (const id of ids) {
    while (['queued', 'in_progress'].includes((await app.get(`/v1/jobs/${id}`)).status)) {
      if (Date.now() > limitMs) throw new Error(`The job ${id} did not end`);
      await wait(200);
    }
  }
}

async function operate(api, others, vendorUrl) {
  const put = (id, completion, comment) =>
    api.put(`/v1/admin/config/models/${id}`, { row: { pricing: { completion } }, comment });
  await put('openai/gpt-4.1-nano', '0.0000005', 'New list price');
  await put('openai/gpt-4.1-nano', '0.00000045', 'Autumn offer');
  await api.post('/v1/admin/config/rollback', { version: 2, comment: 'The offer is over' });
  await api.post('/v1/admin/routes/pause', {
    provider: 'azure',
    model: 'openai/gpt-4o',
    reason: 'Throttled since Friday, ticket 4711',
  });
  await api.patch(`/v1/admin/tenants/${others[5].id}`, { status: 'suspended' });
  await api.post(`/v1/admin/tenants/${others[0].id}/grants`, {
    credits: 25_000_000,
    memo: 'Goodwill for the outage',
  });
  const hook = (name, kind, condition) => ({
    name,
    kind,
    condition,
    url: `${vendorUrl}/hooks/operator`,
    format: 'slack',
  });
  await api.post('/v1/admin/alerts', hook('A vendor is down', 'vendor_unhealthy', {}));
  await api.post('/v1/admin/alerts', hook('A route is paused', 'route_paused', {}));
  await api.post(
    '/v1/admin/alerts',
    hook('Strange spend', 'spend_unusual', { floor_credits: 1_000_000_000 }),
  );
  await api.post('/v1/admin/keys', { name: 'Monitoring', role: 'auditor' });
  await api.post('/v1/admin/people/invitations', {
    email: 'marie@operator.example',
    role: 'auditor',
  });
}
