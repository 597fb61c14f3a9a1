import { describe, expect, it } from '@jest/globals';
import type { AdminKeyDirectory } from '../admin-key-directory.service.js';
import type { KeyDirectory } from '../key-directory.service.js';
import { ClientNetworks } from '../client-networks.js';
import { WrongKeys } from '../wrong-keys.js';
import { loadConfig } from '../../../platform/config/load-config.js';
import { readCookie } from '../../../platform/http/cookies.js';
import { SessionGate } from './session-gate.service.js';
import type { SessionRepository } from './session.repository.js';

function gateOf(environment: NodeJS.ProcessEnv): SessionGate {
  const config = loadConfig(environment, []);
  return new SessionGate(
    {} as SessionRepository,
    {} as KeyDirectory,
    {} as AdminKeyDirectory,
    new WrongKeys(new ClientNetworks(config)),
    config,
  );
}

describe(SessionGate.name, () => {
  it('sets a Secure `__Host-` cookie when the public URL is https', () => {
    const secure = gateOf({ GATEWAY_PUBLIC_URL: 'https://gateway.example/base' });
    expect(secure.cookie('session', 'token', 60_000)).toBe(
      '__Host-gateway_session=token; Max-Age=60; Path=/; HttpOnly; Secure; SameSite=Lax',
    );
    expect(secure.cookie('session', '', 60_000)).toContain('Max-Age=0;');
    expect(secure.tokenOf({ headers: { cookie: 'gateway_session=token' } })).toBeUndefined();
    expect(secure.tokenOf({ headers: { cookie: 'a=b; __Host-gateway_session=token' } })).toBe(
      'token',
    );
    const plain = gateOf({});
    expect(plain.cookie('session', 'token', 60_000)).not.toMatch(/Secure|__Host/);
  });

  it.each([
    [{ 'sec-fetch-site': 'same-origin', origin: 'https://elsewhere.example' }, true],
    [{ 'sec-fetch-site': 'none' }, false],
    [{ 'sec-fetch-site': 'same-site', origin: 'https://gateway.example' }, false],
    [{ origin: 'https://gateway.example' }, true],
    [{ origin: 'http://gateway.example' }, false],
    [{ origin: 'https://gateway.example.elsewhere' }, false],
    [{ origin: 'http://internal:3000', host: 'internal:3000' }, true],
    [{ origin: 'http://internal:3001', host: 'internal:3000' }, false],
    [{ origin: 'null' }, false],
    [{}, true],
  ])('treats %j as same-origin: %s', (headers, isOwn) => {
    const gate = gateOf({ GATEWAY_PUBLIC_URL: 'https://gateway.example' });
    const check = (): void => gate.assertSameOrigin({ headers });
    if (isOwn) expect(check).not.toThrow();
    else expect(check).toThrow(expect.objectContaining({ status: 403, param: 'origin' }));
  });
});

describe(readCookie.name, () => {
  it.each([
    [undefined, undefined],
    ['', undefined],
    ['b=1; a=2', '2'],
    ['a=x=y; a=2', 'x=y'],
    ['aa=1;a', undefined],
  ])('reads %j', (header, value) => {
    expect(readCookie(header, 'a')).toBe(value);
  });
});
