import type { LookupAddress } from 'node:dns';
import { describe, expect, it } from '@jest/globals';
import { InvalidRequestError } from '../errors/gateway-errors.js';
import type { Resolve } from '../http/public-address.js';
import { assertDestinationUrl } from './destination.js';

/** Resolves the given names only. */
function resolverOf(names: Record<string, string[]>): Resolve {
  return (hostname, _options, callback) => {
    const found = names[hostname]?.map((address): LookupAddress => ({
      address,
      family: address.includes(':') ? 6 : 4,
    }));
    callback(found ? null : Object.assign(new Error(), { code: 'ENOTFOUND' }), found ?? []);
  };
}

const resolveName = resolverOf({
  'public.example': ['93.184.215.14'],
  '93.184.215.14': ['93.184.215.14'],
  '2606:4700::1111': ['2606:4700::1111'],
  'inside.example': ['10.0.0.1'],
  'both.example': ['93.184.215.14', '169.254.169.254'],
  'six.example': ['::1'],
});

const check = (url: string, allowPrivate = false): Promise<void> =>
  assertDestinationUrl(url, 'webhook_url', { allowPrivate, resolveName });

describe(assertDestinationUrl.name, () => {
  it.each([
    'https://public.example/hook?a=b',
    'http://public.example:8080',
    'https://PUBLIC.example./hook',
    'https://93.184.215.14/hook',
    'https://[2606:4700::1111]/hook',
    'https://not-found-now.example/',
  ])('accepts %s', async (url) => {
    await expect(check(url)).resolves.toBeUndefined();
  });

  it.each([
    ['no URL', 'hook'],
    ['empty', ''],
    ['no scheme', '//public.example/'],
    ['another scheme', 'ftp://public.example/'],
    ['another scheme', 'file:///etc/passwd'],
    ['another scheme', 'javascript:alert(1)'],
    ['credentials', 'https://user:password@public.example/'],
    ['a user', 'https://user@public.example/'],
    ['too long', `https://public.example/${'x'.repeat(2_048)}`],
    ['localhost', 'http://localhost/'],
    ['localhost', 'http://LOCALHOST.:8080/'],
    ['below localhost', 'http://a.localhost/'],
    ['loopback', 'http://127.0.0.1/'],
    ['loopback with a dot', 'http://127.0.0.1./'],
    ['loopback, short', 'http://127.1/'],
    ['loopback, decimal', 'http://2130706433/'],
    ['loopback, octal', 'http://0177.0.0.1/'],
    ['loopback, hexadecimal', 'http://0x7f000001/'],
    ['loopback, full width', 'http://１２７.0.0.1/'],
    ['unspecified', 'http://0.0.0.0/'],
    ['unspecified, short', 'http://0/'],
    ['private', 'http://10.1.2.3/'],
    ['private', 'http://172.16.0.1/'],
    ['private', 'http://192.168.0.1/'],
    ['shared by a carrier', 'http://100.64.0.1/'],
    ['cloud metadata', 'http://169.254.169.254/latest/meta-data'],
    ['IPv6 loopback', 'http://[::1]/'],
    ['IPv6 unspecified', 'http://[::]/'],
    ['IPv4-mapped', 'http://[::ffff:127.0.0.1]/'],
    ['IPv4-mapped, public', 'http://[::ffff:8.8.8.8]/'],
    ['NAT64', 'http://[64:ff9b::127.0.0.1]/'],
    ['6to4', 'http://[2002:7f00:1::]/'],
    ['unique local', 'http://[fd00::1]/'],
    ['link-local', 'http://[fe80::1]/'],
    ['a name that leads inside', 'http://inside.example/'],
    ['a name that leads inside too', 'http://both.example/'],
    ['a name that leads inside over IPv6', 'http://six.example/'],
  ])('rejects %s: %s', async (_kind, url) => {
    const refusal = await check(url).catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(InvalidRequestError);
    expect(refusal).toMatchObject({ param: 'webhook_url', status: 400 });
    expect((refusal as Error).message).not.toContain('password');
  });

  it('accepts private addresses when the operator allows them, but no credentials', async () => {
    await expect(check('http://127.0.0.1:9/', true)).resolves.toBeUndefined();
    await expect(check('http://localhost/', true)).resolves.toBeUndefined();
    await expect(check('http://a:b@localhost/', true)).rejects.toThrow(InvalidRequestError);
    await expect(check('ftp://localhost/', true)).rejects.toThrow(InvalidRequestError);
  });
});
