import type { LookupAddress } from 'node:dns';
import { describe, expect, it, jest } from '@jest/globals';
import {
  isMetadataHost,
  isPublicAddress,
  PrivateAddressError,
  publicConnector,
  publicLookup,
  type Resolve,
} from './public-address.js';

describe(isMetadataHost.name, () => {
  const isRefused = (host: string): boolean => isMetadataHost(new URL(`http://${host}/`));

  it.each([
    ['link-local', '169.254.169.254'],
    ['link-local in decimal', '2852039166'],
    ['link-local in octal', '0251.0376.0251.0376'],
    ['of Alibaba', '100.100.100.200'],
    ['of Azure', '168.63.129.16'],
    ['of Oracle', '192.0.0.192'],
    ['of AWS', '[fd00:ec2::254]'],
    ['of AWS, for pods', '[fd00:ec2::23]'],
    ['of Google', '[fd20:ce::254]'],
    ['link-local', '[fe80::1]'],
    ['IPv4-mapped', '[::ffff:169.254.169.254]'],
    ['IPv4-compatible', '[::169.254.169.254]'],
    ['IPv4-translated', '[::ffff:0:169.254.169.254]'],
    ['NAT64', '[64:ff9b::a9fe:a9fe]'],
    ['NAT64 of one site', '[64:ff9b:1::a9fe:a9fe]'],
    ['6to4', '[2002:a9fe:a9fe::1]'],
    ['by name', 'metadata.google.internal'],
    ['by name, in capitals, with a final dot', 'METADATA.google.internal.'],
    ['by its short name', 'metadata.goog'],
  ])('refuses a metadata service: %s, %s', (_kind, host) => {
    expect(isRefused(host)).toBe(true);
  });

  it.each([
    '127.0.0.1',
    '10.0.0.1',
    '[::1]',
    '[fd00::1]',
    '[::ffff:10.0.0.1]',
    'localhost',
    'a.example',
  ])('accepts %s', (host) => {
    expect(isRefused(host)).toBe(false);
  });
});

describe(`${publicConnector.name} with private addresses allowed`, () => {
  const connect = (hostname: string, address = '127.0.0.1'): Promise<unknown> =>
    new Promise((resolve) => {
      const resolveName: Resolve = (_name, _options, callback) =>
        callback(null, [{ address, family: address.includes(':') ? 6 : 4 }]);
      const target = { hostname, port: '9', protocol: 'http:' };
      publicConnector({ timeoutMs: 1_000, allowPrivate: true, resolveName })(target, (...answer) =>
        resolve(answer[0]),
      );
    });

  it.each([
    '169.254.169.254',
    'fe80::1%lo',
    'fd00:ec2::23',
    '::ffff:169.254.169.254',
    '64:ff9b::a9fe:a9fe',
  ])('does not connect to a name that resolves to %s', async (address) => {
    expect(await connect('a.example', address)).toBeInstanceOf(PrivateAddressError);
  });

  it('does not connect to a metadata service by name, whatever it resolves to', async () => {
    expect(await connect('metadata.google.internal')).toBeInstanceOf(PrivateAddressError);
  });

  it('connects to private addresses', async () => {
    expect(await connect('a.example')).toMatchObject({ code: 'ECONNREFUSED' });
  });
});

describe(isPublicAddress.name, () => {
  it.each(['8.8.8.8', '1.1.1.1', '203.0.112.1', '172.32.0.1', '2606:4700::1111', '2a00:1450::1'])(
    'accepts %s',
    (address) => {
      expect(isPublicAddress(address)).toBe(true);
    },
  );

  it.each([
    ['loopback', '127.0.0.1'],
    ['loopback', '127.255.255.254'],
    ['unspecified', '0.0.0.0'],
    ['this network', '0.1.2.3'],
    ['private', '10.0.0.1'],
    ['private', '172.16.0.1'],
    ['private', '172.31.255.255'],
    ['private', '192.168.1.1'],
    ['shared by a carrier', '100.64.0.1'],
    ['shared by a carrier', '100.127.255.255'],
    ['link-local, where clouds keep credentials', '169.254.169.254'],
    ['the host below a machine in a cloud', '168.63.129.16'],
    ['for protocols', '192.0.0.1'],
    ['for documentation', '192.0.2.1'],
    ['for documentation', '198.51.100.1'],
    ['for documentation', '203.0.113.1'],
    ['for benchmarks', '198.18.0.1'],
    ['6to4 relays', '192.88.99.1'],
    ['multicast', '224.0.0.1'],
    ['reserved', '240.0.0.1'],
    ['broadcast', '255.255.255.255'],
    ['loopback', '::1'],
    ['unspecified', '::'],
    ['unique local', 'fc00::1'],
    ['unique local, where clouds keep credentials', 'fd00:ec2::254'],
    ['link-local', 'fe80::1'],
    ['link-local with a zone', 'fe80::1%eth0'],
    ['site-local', 'fec0::1'],
    ['multicast', 'ff02::1'],
    ['for documentation', '2001:db8::1'],
    ['discard', '100::1'],
    ['IPv4-mapped', '::ffff:127.0.0.1'],
    ['IPv4-mapped in hexadecimal', '::ffff:7f00:1'],
    ['IPv4-mapped, whatever it maps', '::ffff:8.8.8.8'],
    ['IPv4-compatible', '::127.0.0.1'],
    ['IPv4-translated', '::ffff:0:127.0.0.1'],
    ['NAT64', '64:ff9b::7f00:1'],
    ['NAT64 of one site', '64:ff9b:1::7f00:1'],
    ['6to4', '2002:7f00:1::1'],
    ['Teredo', '2001::7f00:1'],
    ['not handed out', '4000::1'],
    ['no address', 'localhost'],
    ['no address', ''],
    ['in a form that only some parsers read', '0177.0.0.1'],
    ['in a form that only some parsers read', '2130706433'],
  ])('rejects an address that is %s: %s', (_why, address) => {
    expect(isPublicAddress(address)).toBe(false);
  });
});

const resolving =
  (...addresses: string[]): Resolve =>
  (_hostname, _options, callback) =>
    callback(
      null,
      addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    );

const lookUp = (resolveName: Resolve, all: boolean) =>
  new Promise<[Error | null, string | LookupAddress[], number?]>((resolve) => {
    publicLookup(resolveName)('example.com', { all }, (...result) => resolve(result));
  });

describe(publicLookup.name, () => {
  it('returns the addresses of a name, one or all', async () => {
    const resolveName = resolving('8.8.8.8', '2606:4700::1111');
    expect(await lookUp(resolveName, false)).toEqual([null, '8.8.8.8', 4]);
    const [error, all] = await lookUp(resolveName, true);
    expect([error, all]).toEqual([
      null,
      [
        { address: '8.8.8.8', family: 4 },
        { address: '2606:4700::1111', family: 6 },
      ],
    ]);
  });

  it.each([[['127.0.0.1']], [['8.8.8.8', '10.0.0.1']], [['::ffff:10.0.0.1']], [[]]])(
    'fails for a name of %j',
    async (addresses) => {
      for (const all of [true, false]) {
        const [error] = await lookUp(resolving(...addresses), all);
        expect(error).toBeInstanceOf(PrivateAddressError);
      }
    },
  );

  it('passes on the failure of a lookup', async () => {
    const failure = Object.assign(new Error('no such name'), { code: 'ENOTFOUND' });
    const [error] = await lookUp((_hostname, _options, callback) => callback(failure, []), true);
    expect(error).toBe(failure);
  });
});

describe(publicConnector.name, () => {
  const connect = (hostname: string, resolveName: Resolve) =>
    new Promise<Error | null>((resolve) => {
      const connector = publicConnector({ timeoutMs: 1_000, allowPrivate: false, resolveName });
      const target = { hostname, host: hostname, protocol: 'http:', port: '9' };
      connector(target, (...[error]) => resolve(error));
    });

  it.each(['127.0.0.1', '[::1]', '[::ffff:127.0.0.1]', '169.254.169.254'])(
    'refuses the literal address %s, which is never looked up',
    async (hostname) => {
      const resolveName = jest.fn<Resolve>();
      expect(await connect(hostname, resolveName)).toBeInstanceOf(PrivateAddressError);
      expect(resolveName).not.toHaveBeenCalled();
    },
  );

  it('checks a name when connecting, whatever it resolved to before', async () => {
    let times = 0;
    const rebinding: Resolve = (...rest) =>
      resolving(times++ === 0 ? '8.8.8.8' : '127.0.0.1')(...rest);
    expect((await lookUp(rebinding, true))[0]).toBeNull();
    expect(await connect('rebinding.example', rebinding)).toBeInstanceOf(PrivateAddressError);
  });
});
