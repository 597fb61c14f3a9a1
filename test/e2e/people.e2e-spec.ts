import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { setTimeout as wait } from 'node:timers/promises';
import { bootGateway, type BootedGateway } from '../support/boot-gateway.js';
import { refusal } from '../support/customer-gateways.js';
import { OpenidIssuer, type TestClaims } from '../support/openid-issuer.js';
import { runOperatorCommand } from '../support/operator-command.js';
import { TestBrowser } from '../support/test-browser.js';
import { until } from '../support/until.js';

interface SessionBody {
  id: string;
  kind: string;
  name: string;
  email: string | null;
  operator_role: string | null;
  tenants: { id: string; name: string; role: string; rights: string[] }[];
  csrf_token: string;
}

const CALLBACK = '/v1/auth/callback';
const VERIFIED = { email_verified: true };

let issuer: OpenidIssuer;
let gateway: BootedGateway;
let people = 0;

beforeAll(async () => {
  issuer = await OpenidIssuer.start();
  gateway = await bootGateway({
    GATEWAY_OIDC_ISSUER: issuer.url,
    GATEWAY_OIDC_CLIENT_ID: issuer.clientId,
    GATEWAY_OIDC_CLIENT_SECRET: issuer.clientSecret,
    GATEWAY_OIDC_SCOPES: 'openid email profile groups',
    GATEWAY_OIDC_ROLES:
      'gateway%20admins=admin,gateway-auditors=auditor,default-developers=default:developer,ghosts=nobody%3Aowner',
    // Wrong keys are counted by address, and this suite sends many.
    GATEWAY_TRUSTED_PROXIES: '127.0.0.0/8, ::1',
  });
  issuer.register(gateway.url + CALLBACK);
});
afterAll(async () => {
  await gateway.close();
  await issuer.stop();
});

let browser: TestBrowser;
let address: string;
beforeEach(() => {
  browser = new TestBrowser();
  people++;
  address = `10.2.${people >> 8}.${people & 255}`;
  issuer.isUnavailable = false;
  issuer.codeSeconds = 60;
});

const call = (path: string, init: RequestInit = {}, by = browser): Promise<Response> =>
  by.fetch(gateway.url + path, {
    ...init,
    headers: { 'x-forwarded-for': address, ...(init.headers as Record<string, string>) },
  });

/** A changing request, like from a page of the gateway's origin. */
async function send(
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
  by = browser,
): Promise<Response> {
  const session = await call('/v1/auth/session', {}, by);
  const { csrf_token: token } = (await session.json()) as SessionBody;
  return call(
    path,
    {
      method,
      headers: {
        'sec-fetch-site': 'same-origin',
        'x-csrf-token': token,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      body: body === undefined ? undefined : JSON.stringify(body),
    },
    by,
  );
}

const postJson = (path: string, body: unknown, headers = {}, by = browser): Promise<Response> =>
  call(
    path,
    {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    },
    by,
  );

async function answer(response: Response): Promise<object> {
  return { status: response.status, body: await response.json() };
}

/** Logs in at the issuer. @returns the callback URL with which the browser returns */
function reachCallback(path = '/v1/auth/login', by = browser): Promise<string> {
  return by.follow(gateway.url + path, (url) => url.startsWith(gateway.url + CALLBACK));
}

async function comeBack(url: string, by = browser): Promise<Response> {
  return by.fetch(url, { headers: { 'x-forwarded-for': address } });
}

async function logIn(by = browser): Promise<SessionBody> {
  const back = await comeBack(await reachCallback('/v1/auth/login', by), by);
  expect(back.status).toBe(303);
  const session = await call('/v1/auth/session', {}, by);
  expect(session.status).toBe(200);
  return (await session.json()) as SessionBody;
}

const uniqueEmail = (): string => `person-${people}@acme.example`;

async function invite(role: string, email = uniqueEmail()): Promise<string> {
  const invited = await gateway.post(
    '/v1/customer/invitations',
    { email, role },
    { authorization: `Bearer ${gateway.managementKey}` },
  );
  expect(invited.status).toBe(201);
  return email;
}

async function makeTenant(name: string): Promise<string> {
  await runOperatorCommand({ DATABASE_URL: gateway.database.url }, 'tenant', 'create', name);
  const { rows } = await gateway.database.query<{ id: string }>(
    'SELECT id FROM tenants WHERE name = $1',
    [name],
  );
  return rows[0]!.id;
}

/** A logged-in member. */
async function member(role: string, claims: TestClaims = {}): Promise<SessionBody> {
  const email = await invite(role);
  issuer.add({ name: 'Ada', email, ...VERIFIED, ...claims });
  return logIn();
}

const withGroups = (...groups: string[]): string =>
  issuer.add({ name: 'Grace', email: uniqueEmail(), ...VERIFIED, groups });

describe('a login at an OpenID issuer', () => {
  it('is refused with 503 while the issuer is unavailable, and works as soon as it is back', async () => {
    withGroups('gateway admins');
    issuer.isUnavailable = true;
    const unavailable = await call('/v1/auth/login');
    expect(unavailable.headers.get('retry-after')).toBe('5');
    expect(await answer(unavailable)).toEqual(refusal(503, 'provider_unavailable', 'issuer'));
    issuer.isUnavailable = false;
    await logIn();

    const back = await reachCallback();
    issuer.isUnavailable = true;
    expect(await answer(await comeBack(back))).toEqual(
      refusal(503, 'provider_unavailable', 'issuer'),
    );
  });

  it('sends state, nonce and a PKCE challenge, and returns to the requested path', async () => {
    withGroups('gateway-auditors');
    const started = await call('/v1/auth/login?return_to=/logs%3Fmodel=a%23top');
    expect(started.status).toBe(302);
    const { origin, searchParams } = new URL(started.headers.get('location')!);
    expect(origin).toBe(issuer.url);
    expect(Object.fromEntries(searchParams)).toMatchObject({
      redirect_uri: gateway.url + CALLBACK,
      response_type: 'code',
      code_challenge_method: 'S256',
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      state: expect.stringMatching(/^[\w-]{43}$/),
      nonce: expect.stringMatching(/^[\w-]{43}$/),
    });
    const back = await comeBack(
      await reachCallback('/v1/auth/login?return_to=/logs%3Fmodel=a%23top'),
    );
    expect(back.status).toBe(303);
    expect(back.headers.get('location')).toBe('/logs?model=a#top');
    expect(back.headers.get('cache-control')).toBe('no-store');
    const cookie = back.headers.getSetCookie().find((line) => line.startsWith('gateway_session='));
    expect(cookie).toMatch(
      /^gateway_session=[\w-]{43}; Max-Age=604800; Path=\/; HttpOnly; SameSite=Lax$/,
    );
    expect([...browser.cookies(gateway.url).keys()]).toEqual(
      expect.arrayContaining(['gateway_session']),
    );
  });

  it.each([
    'https://elsewhere.example/',
    '//elsewhere.example',
    '/\\elsewhere.example',
    '/%09/elsewhere.example',
    '/.//elsewhere.example',
    'javascript:alert(1)',
    'logs',
    '',
  ])('does not return to %j', async (path) => {
    const encoded = path.includes('%') ? path : encodeURIComponent(path);
    const refused = await call(`/v1/auth/login?return_to=${encoded}`);
    expect(await answer(refused)).toEqual(refusal(400, 'invalid_request_error', 'return_to'));
    expect(refused.headers.getSetCookie()).toEqual([]);
  });

  it('accepts an invitation for a verified e-mail address, once', async () => {
    const { tenants, operator_role, name } = await member('developer');
    expect(tenants).toMatchObject([{ id: gateway.tenantId, name: 'default', role: 'developer' }]);
    expect([operator_role, name]).toEqual([null, 'Ada']);
    const keys = await call('/v1/customer/api-keys');
    expect(keys.status).toBe(200);
    // Another person with the same address at the issuer gets nothing.
    issuer.add({ email: uniqueEmail(), ...VERIFIED });
    const other = new TestBrowser();
    const back = await comeBack(await reachCallback('/v1/auth/login', other), other);
    expect(await answer(back)).toEqual(refusal(403, 'permission_error', 'email'));
    expect(other.cookies(gateway.url).size).toBe(0);
  });

  it.each([false, undefined, 'false', 1])(
    'does not accept an invitation when the address is verified: %j',
    async (verified) => {
      const email = await invite('owner');
      issuer.add({ email, email_verified: verified });
      const refused = await comeBack(await reachCallback());
      expect(await answer(refused)).toEqual(refusal(403, 'permission_error', 'email'));
      expect((await call('/v1/auth/session')).status).toBe(401);
    },
  );

  it('does not accept an invitation for an address that only looks the same', async () => {
    const email = await invite('owner', `kate-${people}@acme.example`);
    issuer.add({ email: email.replace('k', '\u212A'), ...VERIFIED });
    const refused = await comeBack(await reachCallback());
    expect(await answer(refused)).toEqual(refusal(403, 'permission_error', 'email'));
    const path = `/v1/admin/tenants/${gateway.tenantId}/members`;
    for (const odd of [
      '\u212Aate@acme.example',
      'k\u0430te@acme.example',
      'kate@\u0430cme.example',
    ]) {
      const response = await gateway.admin('POST', path, { email: odd, role: 'owner' });
      expect(await answer(response)).toEqual(refusal(400, 'invalid_request_error', 'email'));
    }
  });

  it('does not show an unverified address, but lets its owner in', async () => {
    const email = uniqueEmail();
    issuer.add({ email, email_verified: false, groups: ['default-developers'] });
    expect((await logIn()).email).toBeNull();
    await invite('owner', email);
    issuer.add({ email, ...VERIFIED });
    const owner = new TestBrowser();
    const session = await logIn(owner);
    expect(session).toMatchObject({ email, tenants: [{ role: 'owner' }] });
  });

  it('requires an invitation or a mapped claim, and rejects a withdrawn one', async () => {
    issuer.add({ email: uniqueEmail(), ...VERIFIED, groups: ['staff', 'ghosts'] });
    expect((await comeBack(await reachCallback())).status).toBe(403);
    const path = '/v1/admin/people/invitations';
    const made = await gateway.admin('POST', path, { email: uniqueEmail(), role: 'admin' });
    const { id } = (await made.json()) as { id: string };
    expect((await gateway.admin('DELETE', `${path}/${id}`)).status).toBe(204);
    expect((await comeBack(await reachCallback())).status).toBe(403);
    const { rows } = await gateway.database.query('SELECT FROM people WHERE email = $1', [
      uniqueEmail(),
    ]);
    expect(rows).toEqual([]);
  });

  it('grants the roles mapped from a claim, and revokes them with the claim', async () => {
    const subject = withGroups('gateway-auditors', 'default-developers');
    expect(await logIn()).toMatchObject({
      operator_role: 'auditor',
      tenants: [{ name: 'default', role: 'developer' }],
    });
    issuer.add({ email: uniqueEmail(), groups: 'gateway admins' }, subject);
    expect(await logIn()).toMatchObject({ operator_role: 'admin', tenants: [] });
    issuer.add({ email: uniqueEmail(), groups: [] }, subject);
    expect((await comeBack(await reachCallback())).status).toBe(403);
    // The earlier session has lost its roles as well.
    await until(async () => (await call('/v1/admin/people')).status === 403);
    const { rows } = await gateway.database.query(
      `SELECT action FROM audit_log WHERE actor_id = (SELECT id::text FROM people WHERE subject = $1)
        AND action <> 'session.create' ORDER BY id`,
      [subject],
    );
    expect(rows.map(({ action }) => action as string)).toEqual([
      'person.create',
      'person.update',
      'membership.update',
      'person.update',
      'membership.update',
      'person.update',
    ]);
  });

  it('rejects a state from another browser, and one used before', async () => {
    withGroups('gateway admins');
    const url = await reachCallback();
    const bad = refusal(400, 'invalid_request_error', 'state');
    expect(await answer(await comeBack(url, new TestBrowser()))).toEqual(bad);
    const other = new URL(url);
    other.searchParams.set('state', other.searchParams.get('state')!.replace(/.$/, '_'));
    expect(await answer(await comeBack(other.href))).toEqual(bad);
    expect(await answer(await comeBack(gateway.url + CALLBACK))).toEqual(bad);
    expect((await comeBack(url)).status).toBe(303);
    expect(await answer(await comeBack(url))).toEqual(bad);
  });

  it('rejects another nonce, another verifier, an expired code, and a refusal', async () => {
    withGroups('gateway admins');
    const unconfirmed = refusal(401, 'authentication_error', 'authorization');
    for (const name of ['nonce', 'code_challenge']) {
      const started = new URL((await call('/v1/auth/login')).headers.get('location')!);
      started.searchParams.set(name, 'x'.repeat(43));
      const url = await browser.follow(started.href, (each) => each.includes(CALLBACK));
      expect(await answer(await comeBack(url))).toEqual(unconfirmed);
    }
    issuer.codeSeconds = 1;
    const late = await reachCallback();
    await wait(1_050);
    expect(await answer(await comeBack(late))).toEqual(unconfirmed);
    issuer.codeSeconds = 60;
    const denied = new URL(await reachCallback());
    denied.searchParams.delete('code');
    denied.searchParams.set('error', 'access_denied');
    expect(await answer(await comeBack(denied.href))).toEqual(unconfirmed);
    expect(browser.cookies(gateway.url).has('gateway_session')).toBe(false);
  });

  it('keeps working when the issuer changes its keys', async () => {
    withGroups('gateway admins');
    await logIn();
    issuer.register();
    await logIn(new TestBrowser());
  });

  it('lets two windows of a browser log in at once, and creates one person for two first logins', async () => {
    const subject = withGroups('gateway admins');
    const [first, second] = [await reachCallback(), await reachCallback()];
    const answers = await Promise.all([first, second].map((url) => comeBack(url)));
    expect(answers.map(({ status }) => status)).toEqual([303, 303]);
    const { rows } = await gateway.database.query('SELECT FROM people WHERE subject = $1', [
      subject,
    ]);
    expect(rows).toHaveLength(1);
  });

  it('forgets abandoned logins', async () => {
    for (let index = 0; index < 12; index++) await call('/v1/auth/login');
    expect(browser.cookies(gateway.url).size).toBeLessThanOrEqual(5);
  });
});

describe('a login with a key', () => {
  it('grants the rights of a management key for its tenant, until the key ends', async () => {
    const made = await fetch(`${gateway.url}/v1/customer/api-keys`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${gateway.managementKey}`,
        'content-type': 'application/json',
      },
      body: JSON.stringify({ name: 'for the console', type: 'management' }),
    });
    const { id, key } = (await made.json()) as { id: string; key: string };
    const opened = await postJson('/v1/auth/key', { key });
    expect(await answer(opened)).toMatchObject({
      status: 200,
      body: {
        kind: 'api_key',
        name: 'for the console',
        tenants: [{ id: gateway.tenantId, name: 'default', role: 'key' }],
      },
    });
    const credits = await call('/v1/customer/credits');
    expect(credits.status).toBe(200);
    expect(credits.headers.get('cache-control')).toBe('no-store');
    expect((await send('POST', '/v1/customer/api-keys', { name: 'a' })).status).toBe(201);
    expect(await answer(await call('/v1/admin/people'))).toEqual(
      refusal(403, 'permission_error', 'authorization'),
    );
    const elsewhere = { headers: { 'x-gateway-tenant': '00000000-0000-4000-8000-000000000000' } };
    expect((await call('/v1/customer/credits', elsewhere)).status).toBe(403);
    expect((await send('DELETE', `/v1/customer/api-keys/${id}`)).status).toBe(200);
    expect((await call('/v1/customer/credits')).status).toBe(401);
  });

  it("grants an admin key's role as an operator", async () => {
    const opened = await postJson('/v1/auth/key', { key: gateway.adminKey });
    expect(await answer(opened)).toMatchObject({
      status: 200,
      body: { kind: 'admin_key', operator_role: 'admin', tenants: [] },
    });
    expect((await call('/v1/admin/people')).status).toBe(200);
    expect((await call('/v1/customer/credits')).status).toBe(403);
  });

  it.each([
    [() => gateway.apiKey, 403, 'permission_error', 'key'],
    [() => 'sk-mgmt-of-nobody', 401, 'authentication_error', 'authorization'],
    [() => 'sk-admin-of-nobody', 401, 'authentication_error', 'authorization'],
    [() => '', 401, 'authentication_error', 'authorization'],
    [() => 7, 400, 'invalid_request_error', 'key'],
  ])('rejects other keys', async (key, status, type, param) => {
    const refused = await postJson('/v1/auth/key', { key: key() });
    expect(refused.headers.getSetCookie()).toEqual([]);
    expect(await answer(refused)).toEqual(refusal(status, type, param));
  });

  it('rejects large bodies, other fields, and pages of another origin', async () => {
    const large = await postJson('/v1/auth/key', { key: 'x'.repeat(20_000) });
    expect(await answer(large)).toEqual(refusal(413, 'invalid_request_error', 'body'));
    expect((await postJson('/v1/auth/key', { key: 'a', b: 1 })).status).toBe(400);
    for (const headers of [
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
      { origin: 'https://elsewhere.example' },
      { origin: 'null' },
    ]) {
      const refused = await postJson('/v1/auth/key', { key: gateway.adminKey }, headers);
      expect(await answer(refused)).toEqual(refusal(403, 'permission_error', 'origin'));
    }
    const own = await postJson('/v1/auth/key', { key: gateway.adminKey }, { origin: gateway.url });
    expect(own.status).toBe(200);
  });

  it('counts wrong keys and wrong cookies by address', async () => {
    browser.setCookie(gateway.url, 'gateway_session', 'x'.repeat(43));
    const statuses = new Set<number>();
    for (let index = 0; index < 60; index++) {
      statuses.add((await postJson('/v1/auth/key', { key: 'sk-mgmt-wrong' })).status);
      statuses.add((await call('/v1/customer/credits')).status);
    }
    expect([...statuses].sort()).toEqual([401, 429]);
    // The issuer is not called; otherwise this would be a 503.
    withGroups('gateway admins');
    const url = await reachCallback();
    issuer.isUnavailable = true;
    expect((await comeBack(url)).status).toBe(429);
  });

  const tokenIn = (output: string): string => {
    const url = new URL(output.trim());
    expect(url.pathname).toBe('/console/login');
    return url.hash.replace('#link=', '');
  };

  it('accepts a token from the command line once', async () => {
    const { code, output } = await runOperatorCommand(
      { DATABASE_URL: gateway.database.url },
      'login-link',
    );
    expect(code).toBe(0);
    const token = tokenIn(output);
    const [one, two] = await Promise.all([
      postJson('/v1/auth/link', { token }),
      postJson('/v1/auth/link', { token }, {}, new TestBrowser()),
    ]);
    expect([one.status, two.status].sort()).toEqual([200, 401]);
    expect((await postJson('/v1/auth/link', { token })).status).toBe(401);
    const { output: late } = await runOperatorCommand(
      { DATABASE_URL: gateway.database.url },
      'login-link',
    );
    await gateway.database.query('UPDATE login_links SET expires_at = now()');
    expect((await postJson('/v1/auth/link', { token: tokenIn(late) })).status).toBe(401);
    const { rows } = await gateway.database.query('SELECT * FROM login_links');
    expect(JSON.stringify(rows)).not.toContain(token);
  });
});

describe('a session', () => {
  it('changes nothing without its own CSRF token or from another origin', async () => {
    await member('owner');
    const { csrf_token: foreign } = await (async () => {
      const other = new TestBrowser();
      await postJson('/v1/auth/key', { key: gateway.managementKey }, {}, other);
      return (await (await call('/v1/auth/session', {}, other)).json()) as SessionBody;
    })();
    const path = '/v1/customer/api-keys';
    const bare = await postJson(path, { name: 'a' }, { 'sec-fetch-site': 'same-origin' });
    expect(await answer(bare)).toEqual(refusal(403, 'permission_error', 'x-csrf-token'));
    for (const token of ['', 'x', foreign]) {
      expect((await send('POST', path, { name: 'a' }, { 'x-csrf-token': token })).status).toBe(403);
    }
    const crossSite = { 'sec-fetch-site': 'cross-site' };
    expect(await answer(await send('POST', path, { name: 'a' }, crossSite))).toEqual(
      refusal(403, 'permission_error', 'origin'),
    );
    expect((await send('POST', path, { name: 'a' })).status).toBe(201);
  });

  it('is replaced by each login, which ends the previous one', async () => {
    await member('viewer');
    const cookies = browser.cookies(gateway.url);
    const before = cookies.get('gateway_session')!;
    await logIn();
    expect(cookies.get('gateway_session')).not.toBe(before);
    const thief = new TestBrowser();
    thief.setCookie(gateway.url, 'gateway_session', before);
    await until(async () => (await call('/v1/customer/logs', {}, thief)).status === 401);
    // A planted cookie does not become a session through the login.
    const fixed = 'f'.repeat(43);
    browser.setCookie(gateway.url, 'gateway_session', fixed);
    await logIn();
    expect(cookies.get('gateway_session')).not.toBe(fixed);
    thief.setCookie(gateway.url, 'gateway_session', fixed);
    expect((await call('/v1/customer/logs', {}, thief)).status).toBe(401);
  });

  it('is stored as a hash, and ends with a logout, here or everywhere', async () => {
    await member('viewer');
    const token = browser.cookies(gateway.url).get('gateway_session')!;
    const { rows } = await gateway.database.query(
      `SELECT token_hash = sha256($1::bytea) AS hashed FROM sessions ORDER BY created_at DESC LIMIT 1`,
      [Buffer.from(token)],
    );
    expect(rows).toEqual([{ hashed: true }]);
    const [second, third] = [new TestBrowser(), new TestBrowser()];
    await logIn(second);
    await logIn(third);
    const list = async (): Promise<{ id: string; is_current: boolean }[]> =>
      ((await (await call('/v1/auth/sessions')).json()) as { data: [] }).data;
    const open = await list();
    expect(open).toHaveLength(3);
    const current = open.filter((each) => each.is_current);
    expect(current).toHaveLength(1);
    const [newest] = open;
    expect((await send('DELETE', `/v1/auth/sessions/${newest!.id}`)).status).toBe(204);
    expect((await call('/v1/auth/session', {}, third)).status).toBe(401);
    expect((await send('DELETE', `/v1/auth/sessions/${newest!.id}`)).status).toBe(404);
    const methods = async () => (await call('/v1/auth', {}, second)).json();
    expect(await methods()).toEqual({ oidc: true, key: true, has_session_cookie: true });
    expect((await send('POST', '/v1/auth/logout', undefined, {}, second)).status).toBe(204);
    expect(second.cookies(gateway.url).has('gateway_session')).toBe(false);
    expect(await methods()).toEqual({ oidc: true, key: true, has_session_cookie: false });
    await logIn(second);
    expect((await send('DELETE', '/v1/auth/sessions')).status).toBe(204);
    expect((await call('/v1/auth/session')).status).toBe(401);
    expect((await call('/v1/auth/session', {}, second)).status).toBe(401);
    const thief = new TestBrowser();
    thief.setCookie(gateway.url, 'gateway_session', token);
    expect((await call('/v1/customer/logs', {}, thief)).status).toBe(401);
  });

  it('does not give access to the sessions of others', async () => {
    const { id } = await member('viewer');
    const other = new TestBrowser();
    await postJson('/v1/auth/key', { key: gateway.managementKey }, {}, other);
    expect((await send('DELETE', `/v1/auth/sessions/${id}`, undefined, {}, other)).status).toBe(
      404,
    );
    expect((await call('/v1/auth/session')).status).toBe(200);
  });

  it.each(['expires_at = now()', `last_seen_at = now() - interval '481 minutes'`])(
    'expires: %s',
    async (change) => {
      const { id } = await member('viewer');
      await gateway.database.query(`UPDATE sessions SET ${change} WHERE id = $1`, [id]);
      await until(async () => (await call('/v1/customer/logs')).status === 401);
      // Another request does not revive it.
      expect((await call('/v1/customer/logs')).status).toBe(401);
    },
  );

  it('records its use', async () => {
    const { id } = await member('viewer');
    await gateway.database.query(
      `UPDATE sessions SET last_seen_at = now() - interval '5 minutes' WHERE id = $1`,
      [id],
    );
    await until(async () => {
      await call('/v1/customer/logs');
      const { rows } = await gateway.database.query<{ recent: boolean }>(
        `SELECT last_seen_at > now() - interval '1 minute' AS recent FROM sessions WHERE id = $1`,
        [id],
      );
      return rows[0]!.recent;
    });
  });

  it('yields to a key in the request, and cannot call models', async () => {
    await member('owner');
    const withKey = { headers: { authorization: 'Bearer sk-unknown' } };
    expect((await call('/v1/customer/logs', withKey)).status).toBe(401);
    const body = { model: 'sandbox/echo', messages: [{ role: 'user', content: 'word' }] };
    expect(await answer(await send('POST', '/v1/chat/completions', body))).toEqual(
      refusal(401, 'authentication_error', 'authorization'),
    );
    expect((await call('/v1/models')).status).toBe(200);
  });
});

describe('members', () => {
  it('act for the tenant named in the request, or else for the first one', async () => {
    const id = await makeTenant(`second ${people}`);
    const email = await invite('viewer');
    await gateway.admin('POST', `/v1/admin/tenants/${id}/members`, { email, role: 'owner' });
    issuer.add({ email, ...VERIFIED });
    const { tenants } = await logIn();
    expect(tenants.map(({ role }) => role).sort()).toEqual(['owner', 'viewer']);
    const inTenant = async (tenant?: string): Promise<object> =>
      answer(
        await call('/v1/customer/members', {
          headers: tenant === undefined ? {} : { 'x-gateway-tenant': tenant },
        }),
      );
    const own = await inTenant(id);
    expect(own).toMatchObject({ status: 200, body: { data: [{ email, role: 'owner' }] } });
    expect(await inTenant()).toEqual(await inTenant(tenants[0]!.id));
    expect(await inTenant('nothing')).toEqual(refusal(403, 'permission_error', 'x-gateway-tenant'));
  });

  it('lose their rights within a second, and the last owner stays', async () => {
    const tenantId = await makeTenant(`third ${people}`);
    const path = `/v1/admin/tenants/${tenantId}/members`;
    const join = async (by: TestBrowser, email: string, isFirst = false): Promise<string> => {
      const invited = { email, role: 'owner' };
      const invitation = isFirst
        ? await gateway.admin('POST', path, invited)
        : await send('POST', '/v1/customer/invitations', invited, {}, one);
      expect(invitation.status).toBe(201);
      issuer.add({ email, ...VERIFIED });
      await logIn(by);
      const { rows } = await gateway.database.query<{ id: string }>(
        'SELECT id FROM people WHERE email = $1',
        [email],
      );
      return rows[0]!.id;
    };
    const [one, two] = [new TestBrowser(), new TestBrowser()];
    const first = await join(one, `one-${uniqueEmail()}`, true);
    const last = refusal(409, 'conflict_error', 'id');
    const members = '/v1/customer/members';
    expect(
      await answer(await send('PATCH', `${members}/${first}`, { role: 'viewer' }, {}, one)),
    ).toEqual(last);
    expect(await answer(await send('DELETE', `${members}/${first}`, undefined, {}, one))).toEqual(
      last,
    );
    expect(await answer(await gateway.admin('DELETE', `${path}/${first}`))).toEqual(
      refusal(409, 'conflict_error', 'person_id'),
    );

    expect(
      await answer(await gateway.admin('POST', path, { email: 'a@acme.example', role: 'owner' })),
    ).toEqual(refusal(403, 'permission_error', 'role'));
    const second = await join(two, `two-${uniqueEmail()}`);
    const demotions = await Promise.all([
      send('PATCH', `${members}/${second}`, { role: 'viewer' }, {}, one),
      send('PATCH', `${members}/${first}`, { role: 'viewer' }, {}, two),
    ]);
    expect(demotions.map(({ status }) => status).sort()).toEqual([200, 409]);
    const { rows } = await gateway.database.query<{ person_id: string }>(
      `SELECT person_id FROM memberships WHERE tenant_id = $1 AND role = 'owner'`,
      [tenantId],
    );
    expect(rows).toHaveLength(1);
    const [owner, viewer, viewerId] =
      rows[0]!.person_id === first ? [one, two, second] : [two, one, first];
    await until(
      async () =>
        (await send('POST', '/v1/customer/api-keys', { name: 'a' }, {}, viewer)).status === 403,
    );
    expect((await send('DELETE', `${members}/${viewerId}`, undefined, {}, owner)).status).toBe(204);
    await until(async () => (await call('/v1/customer/logs', {}, viewer)).status === 403);
    expect((await send('DELETE', `${members}/${viewerId}`, undefined, {}, owner)).status).toBe(404);
  });

  it('are invited by owners, for their own tenant only', async () => {
    const email = uniqueEmail();
    await member('owner');
    const path = '/v1/customer/invitations';
    const guest = `guest-${email}`;
    const made = await send('POST', path, { email: guest.toUpperCase(), role: 'developer' });
    const { id } = (await made.json()) as { id: string };
    expect(made.status).toBe(201);
    expect(await answer(await send('POST', path, { email: guest, role: 'viewer' }))).toEqual(
      refusal(409, 'conflict_error', 'email'),
    );
    expect(await answer(await send('POST', path, { email, role: 'viewer' }))).toEqual(
      refusal(409, 'conflict_error', 'email'),
    );
    for (const [body, param] of [
      [{ email: 'nobody', role: 'viewer' }, 'email'],
      [{ email: '\ud800@acme.example', role: 'viewer' }, 'email'],
      [{ email: guest, role: 'admin' }, 'role'],
      [{ email: guest, role: 'viewer', tenant_id: id }, 'tenant_id'],
    ] as const) {
      expect(await answer(await send('POST', path, body))).toEqual(
        refusal(400, 'invalid_request_error', param),
      );
    }
    const list = await call(`${path}?limit=200`);
    expect(await answer(list)).toMatchObject({
      status: 200,
      body: { data: expect.arrayContaining([expect.objectContaining({ id, email: guest })]) },
    });
    issuer.add({ email: guest, ...VERIFIED });
    expect(await logIn(new TestBrowser())).toMatchObject({ tenants: [{ role: 'developer' }] });
    expect((await send('DELETE', `${path}/${id}`)).status).toBe(404);
  });

  it('with the developer role create no management keys', async () => {
    await member('developer');
    const body = { name: 'a', type: 'management' };
    expect(await answer(await send('POST', '/v1/customer/api-keys', body))).toEqual(
      refusal(403, 'permission_error', 'type'),
    );
    const keys = await call('/v1/customer/api-keys');
    const { data } = (await keys.json()) as { data: { id: string; key_preview: string }[] };
    const management = data.find((each) => each.key_preview.startsWith('sk-mgmt-'))!;
    expect((await send('DELETE', `/v1/customer/api-keys/${management.id}`)).status).toBe(403);
    const made = await send('POST', '/v1/customer/api-keys', { name: 'to be revoked' });
    const { id } = (await made.json()) as { id: string };
    expect((await send('DELETE', `/v1/customer/api-keys/${id}`)).status).toBe(200);
  });

  const all = ['any', 'money', 'read', 'develop', 'own', 'content'];
  it.each([
    ['billing', all.slice(0, 2)],
    ['viewer', all.slice(0, 3)],
    ['developer', all.slice(0, 4)],
    ['owner', all],
  ])('with role %s see their rights in the session', async (role, rights) => {
    expect(await member(role)).toMatchObject({ tenants: [{ rights }], operator_rights: [] });
  });

  it('also see the rights of keys', async () => {
    const byKey = await postJson('/v1/auth/key', { key: gateway.managementKey });
    expect(await byKey.json()).toMatchObject({ tenants: [{ rights: all }], operator_rights: [] });
    const admin = await postJson('/v1/auth/key', { key: gateway.adminKey });
    expect(await admin.json()).toMatchObject({
      tenants: [],
      operator_rights: ['operator:read', 'operator:write'],
    });
  });
});

describe('an operator', () => {
  const as = async (key: string): Promise<SessionBody> => {
    const response = await postJson('/v1/auth/key', { key });
    return (await response.json()) as SessionBody;
  };
  const path = '/v1/customer/api-keys';

  it('acts for the tenant named in the request, and is the author of changes', async () => {
    const tenantId = await makeTenant(`visited ${people}`);
    const visit = { 'x-gateway-tenant': tenantId };
    expect(await as(gateway.adminKey)).toMatchObject({
      tenants: [],
      operator_tenant_rights: ['any', 'money', 'read', 'develop', 'own'],
    });
    expect((await call(path)).status).toBe(403);
    expect(await answer(await call(path, { headers: visit }))).toMatchObject({ status: 200 });
    const made = await send('POST', path, { name: 'by the operator' }, visit);
    const { id } = (await made.json()) as { id: string };
    expect(made.status).toBe(201);
    const trail = await call('/v1/customer/audit-log?action=api_key.create', { headers: visit });
    expect(await trail.json()).toMatchObject({
      data: [{ tenant_id: tenantId, target: { id }, actor: { kind: 'admin_key' } }],
    });
    const contentLog = { content_log: true };
    expect(await answer(await send('PATCH', `${path}/${id}`, contentLog, visit))).toEqual(
      refusal(403, 'permission_error', 'content_log'),
    );
    const excerpts = '/v1/customer/guardrail-events?excerpts=true';
    expect((await call(excerpts, { headers: visit })).status).toBe(403);
  });

  it('cannot act for an unknown tenant, and only reads a suspended one', async () => {
    await as(gateway.adminKey);
    const missing = refusal(404, 'not_found_error', 'x-gateway-tenant');
    for (const tenant of ['nothing', '00000000-0000-4000-8000-000000000000']) {
      const headers = { 'x-gateway-tenant': tenant };
      expect(await answer(await call(path, { headers }))).toEqual(missing);
    }
    const tenantId = await makeTenant(`suspended ${people}`);
    const visit = { 'x-gateway-tenant': tenantId };
    const suspend = { status: 'suspended' };
    await gateway.admin('PATCH', `/v1/admin/tenants/${tenantId}`, suspend);
    expect((await call(path, { headers: visit })).status).toBe(200);
    expect(await answer(await send('POST', path, { name: 'a' }, visit))).toEqual(
      refusal(403, 'permission_error', 'tenant'),
    );
    await gateway.database.query('UPDATE tenants SET deleted_at = now() WHERE id = $1', [tenantId]);
    await until(async () => (await call(path, { headers: visit })).status === 404);
  });

  it('who is also a member has the rights of both', async () => {
    const { id } = await member('viewer');
    await gateway.database.query(
      `UPDATE people SET operator_role = 'admin'
        WHERE id = (SELECT person_id FROM sessions WHERE id = $1)`,
      [id],
    );
    await until(
      async () =>
        (
          await send(
            'POST',
            path,
            { name: 'a' },
            {
              'x-gateway-tenant': gateway.tenantId,
            },
          )
        ).status === 201,
    );
    // Without the header, the person acts as a member.
    expect((await send('POST', path, { name: 'a' })).status).toBe(403);
  });
});

describe('people', () => {
  it('are disabled by operators within a second, with their sessions', async () => {
    const { id } = await member('owner');
    const { rows } = await gateway.database.query<{ id: string }>(
      'SELECT person_id AS id FROM sessions WHERE id = $1',
      [id],
    );
    const path = `/v1/admin/people/${rows[0]!.id}`;
    expect(await answer(await gateway.admin('DELETE', `${path}/sessions`))).toEqual({
      status: 200,
      body: { ended: 1 },
    });
    expect((await call('/v1/customer/logs')).status).toBe(401);
    await logIn();
    const disabled = await gateway.admin('PATCH', path, { is_disabled: true });
    expect(await answer(disabled)).toMatchObject({ status: 200, body: { is_disabled: true } });
    expect((await call('/v1/customer/logs')).status).toBe(401);
    expect((await comeBack(await reachCallback())).status).toBe(403);
    await gateway.admin('PATCH', path, { is_disabled: false, operator_role: 'auditor' });
    expect(await logIn()).toMatchObject({ operator_role: 'auditor' });
    expect((await gateway.admin('GET', path)).status).toBe(200);
    expect((await gateway.admin('PATCH', path, { operator_role: 'owner' })).status).toBe(400);
    expect((await gateway.admin('GET', '/v1/admin/people/nobody')).status).toBe(404);
  });

  it('are listed page by page', async () => {
    const emails: unknown[] = [];
    let cursor = '';
    do {
      const page = await gateway.admin('GET', `/v1/admin/people?limit=3${cursor}`);
      const { data, next_cursor: next } = (await page.json()) as {
        data: { email: string }[];
        next_cursor: string | null;
      };
      emails.push(...data.map(({ email }) => email));
      cursor = next === null ? '' : `&cursor=${next}`;
    } while (cursor !== '');
    const { rows } = await gateway.database.query('SELECT FROM people');
    expect(emails).toHaveLength(rows.length);
    expect((await gateway.admin('GET', '/v1/admin/people?cursor=x')).status).toBe(400);
  });

  it('are invited on the command line', async () => {
    const run = (...words: string[]): ReturnType<typeof runOperatorCommand> =>
      runOperatorCommand({ DATABASE_URL: gateway.database.url }, 'person', 'invite', ...words);
    const email = uniqueEmail();
    expect(await run(email, 'auditor')).toMatchObject({ code: 0 });
    expect(await run(email, 'owner', '--tenant', 'default')).toMatchObject({ code: 0 });
    expect(await run(email, 'auditor')).toMatchObject({ code: 1 });
    expect(await run(email, 'owner')).toMatchObject({ code: 2 });
    expect(await run(email, 'admin', '--tenant', 'default')).toMatchObject({ code: 2 });
    expect(await run('nobody', 'admin')).toMatchObject({ code: 2 });
    issuer.add({ email, ...VERIFIED });
    expect(await logIn()).toMatchObject({
      operator_role: 'auditor',
      tenants: [{ name: 'default', role: 'owner' }],
    });
  });
});
