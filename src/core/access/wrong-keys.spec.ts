import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { loadConfig } from '../../platform/config/load-config.js';
import type { GatewayRequest } from './gateway-request.js';
import { ClientNetworks } from './client-networks.js';
import { WrongKeys } from './wrong-keys.js';

const wrongKeys = (trusted = ''): WrongKeys =>
  new WrongKeys(new ClientNetworks(loadConfig({ GATEWAY_TRUSTED_PROXIES: trusted }, [])));
const from = (remoteAddress: string, forwarded?: string): GatewayRequest =>
  ({
    socket: { remoteAddress },
    headers: { 'x-forwarded-for': forwarded },
  }) as unknown as GatewayRequest;
/** Counts the requests that still get a 401 instead of a 429. */
function passing(keys: WrongKeys, requests: readonly GatewayRequest[]): number {
  return requests.filter((request) => {
    try {
      keys.note(request);
      return true;
    } catch (error) {
      expect(error).toMatchObject({ status: 429, param: 'authorization' });
      expect((error as { retryAfterSeconds: number }).retryAfterSeconds).toBeLessThanOrEqual(60);
      return false;
    }
  }).length;
}
const many = (make: (index: number) => GatewayRequest): GatewayRequest[] =>
  Array.from({ length: 150 }, (_, index) => make(index));

describe(WrongKeys.name, () => {
  beforeEach(() => {
    jest.useFakeTimers({ now: Date.UTC(2026, 0, 1, 12) });
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  it('allows 100 requests without a valid key per address and minute', () => {
    const keys = wrongKeys();
    expect(
      passing(
        keys,
        many(() => from('192.0.2.1')),
      ),
    ).toBe(100);
    expect(passing(keys, [from('192.0.2.2')])).toBe(1);
    jest.advanceTimersByTime(60_000);
    expect(passing(keys, [from('192.0.2.1')])).toBe(1);
  });

  it.each<[string, (index: number) => string]>([
    ['a /64 of IPv6', (index) => `2001:db8:0:1::${index.toString(16)}`],
    [
      'an address in any notation',
      (index) => (index % 2 ? '2001:db8::1:0:0:0:1' : '2001:0db8:0:1::2'),
    ],
    ['IPv4 over an IPv6 socket', (index) => (index % 2 ? '::ffff:192.0.2.1' : '192.0.2.1')],
    ['loopback', () => '::1'],
  ])('treats %s as one address', (_, addressOf) => {
    expect(
      passing(
        wrongKeys(),
        many((index) => from(addressOf(index))),
      ),
    ).toBe(100);
  });

  it.each<[string, (index: number) => string]>([
    ['other networks of IPv6', (index) => `2001:db8:0:${index.toString(16)}::1`],
    ['other addresses of IPv4', (index) => `192.0.2.${index}`],
  ])('counts %s separately', (_, addressOf) => {
    expect(
      passing(
        wrongKeys(),
        many((index) => from(addressOf(index))),
      ),
    ).toBe(150);
  });

  it('reads X-Forwarded-For only from trusted proxies, from right to left', () => {
    const forged = many((index) => from('192.0.2.1', `198.51.100.${index}`));
    expect(passing(wrongKeys(), forged)).toBe(100);
    expect(passing(wrongKeys('10.0.0.0/8'), forged)).toBe(100);
    expect(passing(wrongKeys('192.0.2.0/24, 10.0.0.0/8'), forged)).toBe(150);
    const behindTwo = many((index) =>
      from('::ffff:10.0.0.1', `198.51.100.${index}, 203.0.113.7, 10.0.0.2`),
    );
    expect(passing(wrongKeys('10.0.0.0/8'), behindTwo)).toBe(100);
    const nonsense = many((index) => from('10.0.0.1', `x${index}`));
    expect(passing(wrongKeys('10.0.0.0/8'), nonsense)).toBe(100);
  });

  it('forgets the oldest address when there are too many', () => {
    const keys = wrongKeys();
    expect(
      passing(
        keys,
        many(() => from('192.0.2.1')),
      ),
    ).toBe(100);
    for (let index = 0; index < 50_000; index++) {
      keys.note(from(`10.${index >> 16}.${(index >> 8) & 255}.${index & 255}`));
    }
    expect(passing(keys, [from('192.0.2.1')])).toBe(1);
  });
});
