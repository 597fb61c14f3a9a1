import { none } from '../table.mjs';
import { ask } from './callers.mjs';
import { makeBody } from './prompts.mjs';

const HOUR_MS = 3_600_000;
const KEYS = '/v1/customer/api-keys';
const DESTINATIONS = '/v1/customer/broadcast/destinations';
const CREDENTIALS = '/v1/customer/provider-credentials';
const GUARDRAILS = '/v1/customer/guardrails';
/** Two answers of 4,000 tokens cost more than the key's limit. */
const MONTHLY_LIMIT = 60_000;
const MINUTE_LIMIT = 5;

/** A routing key tries to extend its own rights. */
export const rightsAttack = {
  id: 'rights',
  before: {
    'clears its own expiry': 'status 200',
    'sets its own expiry later': 'status 200',
    'raises its own rate': 'status 400',
    'lifts its own monthly limit': 'status 400',
    'makes a key without expiry': 'status 201',
    'makes a key that expires later': 'status 201',
    'spends more than its 60000 a month through children': '160700 spent',
    'lives on in its children when it is revoked': 'status 200',
    'asks more than its 5 a minute through a child': '10 served',
    'turns a guardrail off': 'status 200',
    'deletes a guardrail': 'status 200',
    'redirects a destination': 'status 200',
    'deletes a destination': 'status 200',
    'deletes a credential': 'status 200',
    "changes another key's name": 'status 200',
    'revokes another key': 'status 200',
    'makes a management key': 'status 403',
    'reads the webhook secret': 'status 200',
    'keeps stored headers when the path of a destination changes': 'status 200',
    'keeps stored headers when include_content of a destination changes': 'status 200',
    'things of the management key lost or changed': '1',
    "the neighbour's p99": '41 ms',
    'the process': 'lives',
  },
  async run(stronghold) {
    return [
      ...(await ownLimits(new Prisoner(stronghold))),
      ...(await children(new Prisoner(stronghold))),
      ...(await othersThings(new Prisoner(stronghold))),
    ];
  },
};

/** A restricted key created by a management key, and its attempts. */
class Prisoner {
  lines = [];
  #stronghold;

  constructor(stronghold) {
    this.#stronghold = stronghold;
  }

  /** @returns the record with its key, like `make` for other keys */
  async arrest(limits) {
    this.expiresAt = new Date(Date.now() + HOUR_MS).toISOString();
    const fields = { name: 'prisoner', expires_at: this.expiresAt, ...limits };
    const record = await this.asWarden('POST', KEYS, fields);
    this.id = record.id;
    this.key = record.key;
  }

  async asWarden(method, path, body) {
    const key = this.#stronghold.keys.warden;
    const { status, text } = await this.#stronghold.call(path, { key, method, body });
    if (status >= 300) throw new Error(`${method} ${path}: ${status} ${text}`);
    return JSON.parse(text);
  }

  async does(method, path, body, key = this.key) {
    const { status, text } = await this.#stronghold.call(path, { key, method, body });
    return { status, value: status < 300 ? JSON.parse(text) : undefined };
  }

  /** Records an attempt. `isFree` can accept a success that does no harm. */
  async tries(what, method, path, body, isFree = () => true) {
    const { status, value } = await this.does(method, path, body);
    const isRefused = status >= 400 && status < 500;
    this.expects(what, isRefused || !isFree(value), `status ${status}`);
    return value;
  }

  expects(what, isRefused, figure) {
    this.lines.push({ what, figure, bound: 'refused, or without effect', isMet: isRefused });
  }

  /** Returns the cost of successive answers of 4,000 tokens. */
  async spends(keys) {
    for (const key of keys) {
      const plan = { reasoning: 3_997, text: 3 };
      const fields = { model: 'bench/maker', max_tokens: 4_000, plan };
      await ask(this.#stronghold, { key, body: makeBody('chat', fields) });
    }
    const [{ spent }] = await this.#stronghold.query(
      `SELECT coalesce(sum(cost), 0)::bigint AS spent FROM request_logs
       WHERE tenant_id = (SELECT tenant_id FROM api_keys WHERE id = $1)`,
      [this.id],
    );
    return spent;
  }
}

async function ownLimits(prisoner) {
  await prisoner.arrest({ rate_limit_per_minute: 100, monthly_spend_limit: MONTHLY_LIMIT });
  const own = `${KEYS}/${prisoner.id}`;
  const later = new Date(Date.now() + 100 * HOUR_MS).toISOString();
  await prisoner.tries('clears its own expiry', 'PATCH', own, { expires_at: null });
  await prisoner.tries('sets its own expiry later', 'PATCH', own, { expires_at: later });
  await prisoner.tries('raises its own rate', 'PATCH', own, { rate_limit_per_minute: 9_999 });
  await prisoner.tries('lifts its own monthly limit', 'PATCH', own, { monthly_spend_limit: null });
  return prisoner.lines;
}

async function children(prisoner) {
  await prisoner.arrest({ rate_limit_per_minute: 100, monthly_spend_limit: MONTHLY_LIMIT });
  const outlives = ({ expires_at }) =>
    expires_at === null || Date.parse(expires_at) > Date.parse(prisoner.expiresAt);
  const later = new Date(Date.now() + 100 * HOUR_MS).toISOString();
  const child = (fields) => ({ name: 'child', ...fields });
  await prisoner.tries('makes a key without expiry', 'POST', KEYS, child({}), outlives);
  const lasting = child({ expires_at: later });
  await prisoner.tries('makes a key that expires later', 'POST', KEYS, lasting, outlives);

  const keys = [];
  for (let index = 0; index < 3; index++) {
    const { value } = await prisoner.does('POST', KEYS, child({}));
    if (value !== undefined) keys.push(value.key);
  }
  const spent = await prisoner.spends([prisoner.key, ...keys]);
  prisoner.expects(
    `spends more than its ${MONTHLY_LIMIT} a month through children`,
    spent <= MONTHLY_LIMIT,
    `${spent} spent`,
  );

  await prisoner.does('DELETE', `${KEYS}/${prisoner.id}`);
  await prisoner.asWarden('DELETE', `${KEYS}/${prisoner.id}`);
  const statuses = [];
  for (const key of keys) {
    statuses.push((await prisoner.does('GET', '/v1/models', undefined, key)).status);
  }
  prisoner.expects(
    'lives on in its children when it is revoked',
    statuses.every((status) => status === 401),
    `status ${[...new Set(statuses)].join(', ') || 'none'}`,
  );

  await prisoner.arrest({ rate_limit_per_minute: MINUTE_LIMIT });
  const { value: sibling } = await prisoner.does('POST', KEYS, child({}));
  const body = makeBody('chat', { model: 'bench/maker', plan: {} });
  let served = 0;
  for (const key of [prisoner.key, sibling?.key ?? prisoner.key]) {
    for (let index = 0; index < MINUTE_LIMIT; index++) {
      const { status } = await prisoner.does('POST', '/v1/chat/completions', body, key);
      if (status === 200) served++;
    }
  }
  prisoner.expects(
    `asks more than its ${MINUTE_LIMIT} a minute through a child`,
    // The first minute can end within the loop.
    served <= MINUTE_LIMIT + 1,
    `${served} served`,
  );
  return prisoner.lines;
}

async function othersThings(prisoner) {
  await prisoner.arrest({});
  const rules = [{ type: 'keyword', words: ['nobody-says-this'] }];
  const guardrail = await prisoner.asWarden('POST', GUARDRAILS, { name: 'Rule', rules });
  const destination = await prisoner.asWarden('POST', DESTINATIONS, makeDestination());
  const credential = await prisoner.asWarden('POST', CREDENTIALS, {
    provider: 'bench-messages',
    key: 'the-tenants-own-key',
  });
  const other = await prisoner.asWarden('POST', KEYS, { name: 'other' });

  const guardrailPath = `${GUARDRAILS}/${guardrail.id}`;
  const destinationPath = `${DESTINATIONS}/${destination.id}`;
  await prisoner.tries('turns a guardrail off', 'PUT', guardrailPath, { is_enabled: false });
  await prisoner.tries('deletes a guardrail', 'DELETE', guardrailPath);
  const thief = { url: 'http://127.0.0.1:9/elsewhere' };
  await prisoner.tries('redirects a destination', 'PUT', destinationPath, thief);
  await prisoner.tries('deletes a destination', 'DELETE', destinationPath);
  await prisoner.tries('deletes a credential', 'DELETE', `${CREDENTIALS}/${credential.id}`);
  await prisoner.tries("changes another key's name", 'PATCH', `${KEYS}/${other.id}`, { name: 'x' });
  await prisoner.tries('revokes another key', 'DELETE', `${KEYS}/${other.id}`);
  await prisoner.tries('makes a management key', 'POST', KEYS, { name: 'x', type: 'management' });
  await prisoner.tries('reads the webhook secret', 'GET', '/v1/customer/webhook-secret');

  const { value: own } = await prisoner.does('POST', DESTINATIONS, makeDestination());
  const keepsHeaders = ({ headers }) => Object.keys(headers).length > 0;
  const changes = [
    ['the path', { url: 'http://127.0.0.1:9/other' }],
    ['include_content', { include_content: true }],
  ];
  for (const [what, change] of changes) {
    const path = `${DESTINATIONS}/${own?.id}`;
    const name = `keeps stored headers when ${what} of a destination changes`;
    await prisoner.tries(name, 'PUT', path, change, keepsHeaders);
  }
  const left = await prisoner.asWarden('GET', DESTINATIONS);
  const isThere = left.data.some(({ id, url }) => id === destination.id && url === destination.url);
  return [...prisoner.lines, none('things of the management key lost or changed', isThere ? 0 : 1)];
}

function makeDestination() {
  return {
    destination: 'webhook',
    enabled: true,
    url: 'http://127.0.0.1:9/v1/traces',
    method: 'POST',
    headers: { 'X-Api-Key': 'the-collectors-key' },
  };
}
