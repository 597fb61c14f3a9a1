import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { createSocket, type Socket as DatagramSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import ipaddr from 'ipaddr.js';
import { OutboundLookup, queryDns, resolveBy } from '../../src/platform/http/public-address.js';
import { OutboundClient } from '../../src/platform/outbound/outbound-client.js';
import { MediaFetcher } from '../../src/vendors/transport/media-fetcher.js';

const A = 1;
const CNAME = 5;
const AAAA = 28;
const NOT_FOUND = 3;

/** Addresses, or the name of a CNAME; each query of the name gets the next list. */
type Answers = readonly (readonly string[])[];

const PUBLIC = '93.184.215.14';
const PUBLIC_6 = '2606:2800:21f:cb07:6820:80da:af6b:8b2c';

/** The last list of each leads to an internal address. Nothing connects to the public ones. */
const NAMES: Readonly<Record<string, Answers>> = {
  'rebind.attack.test': [[PUBLIC], ['127.0.0.1']],
  'mapped.attack.test': [[PUBLIC], ['::ffff:127.0.0.1']],
  'unspecified.attack.test': [[PUBLIC], ['0.0.0.0']],
  'unspecified6.attack.test': [[PUBLIC], ['::']],
  'linklocal.attack.test': [[PUBLIC], ['169.254.169.254']],
  'linklocal6.attack.test': [[PUBLIC], ['fe80::1']],
  'loopback6.attack.test': [[PUBLIC_6], ['::1']],
  'nat64.attack.test': [[PUBLIC_6], ['64:ff9b::7f00:1']],
  'sixtofour.attack.test': [[PUBLIC_6], ['2002:7f00:1::']],
  'compatible.attack.test': [[PUBLIC_6], ['::7f00:1']],
  'private6.attack.test': [[PUBLIC_6], ['fd00::1']],
  'azure.attack.test': [[PUBLIC], ['168.63.129.16']],
  'first.attack.test': [[PUBLIC], [PUBLIC, '127.0.0.1']],
  'last.attack.test': [[PUBLIC], ['127.0.0.1', PUBLIC]],
  'many.attack.test': [[PUBLIC], [...Array.from({ length: 20 }, () => PUBLIC), '10.0.0.1']],
  'both.attack.test': [[PUBLIC], [PUBLIC, '::1']],
  'both-mapped.attack.test': [[PUBLIC], [PUBLIC, PUBLIC_6, '::ffff:10.0.0.1']],
  'chain.attack.test': [[PUBLIC], ['chain2.attack.test', 'chain3.attack.test', '127.0.0.1']],
  'local.attack.test': [[PUBLIC], ['localhost', '127.0.0.1']],
  'loop.attack.test': [[PUBLIC], ['loop.attack.test']],
};

/** A nameserver with TTL 0, like an attacker runs for a domain. */
class HostileNameserver {
  private readonly socket: DatagramSocket = createSocket('udp4');
  /** Index of the list served for a name: rebinding happens between two lookups. */
  stage = 0;
  queries = 0;

  async start(): Promise<string> {
    this.socket.on('message', (query, from) => {
      this.queries += 1;
      this.socket.send(this.answer(query), from.port, from.address);
    });
    this.socket.bind(0, '127.0.0.1');
    await once(this.socket, 'listening');
    return `127.0.0.1:${this.socket.address().port}`;
  }

  stop(): void {
    this.socket.close();
  }

  private answer(query: Buffer): Buffer {
    let at = 12;
    const labels: string[] = [];
    while (query[at] !== 0) {
      labels.push(query.toString('latin1', at + 1, at + 1 + query[at]!));
      at += 1 + query[at]!;
    }
    const question = query.subarray(12, at + 5);
    const type = query.readUInt16BE(at + 1);
    const lists = NAMES[labels.join('.').toLowerCase()];
    const list = lists?.[Math.min(this.stage, lists.length - 1)] ?? [];
    let owner = labels.join('.');
    const records: Buffer[] = [];
    for (const value of list) {
      if (!ipaddr.isValid(value)) {
        records.push(record(owner, CNAME, nameOf(value)));
        owner = value;
      } else if ((value.includes(':') ? AAAA : A) === type) {
        records.push(record(owner, type, Buffer.from(ipaddr.parse(value).toByteArray())));
      }
    }
    const head = Buffer.alloc(12);
    query.copy(head, 0, 0, 2);
    head.writeUInt16BE(0x8580 | (lists ? 0 : NOT_FOUND), 2);
    head.writeUInt16BE(1, 4);
    head.writeUInt16BE(records.length, 6);
    return Buffer.concat([head, question, ...records]);
  }
}

function nameOf(name: string): Buffer {
  const labels = name
    .split('.')
    .map((label) => Buffer.from(`${String.fromCharCode(label.length)}${label}`));
  return Buffer.concat([...labels, Buffer.of(0)]);
}

function record(owner: string, type: number, data: Buffer): Buffer {
  const fields = Buffer.alloc(10);
  fields.writeUInt16BE(type, 0);
  fields.writeUInt16BE(1, 2);
  fields.writeUInt16BE(data.length, 8);
  return Buffer.concat([nameOf(owner), fields, data]);
}

describe('a name whose nameserver rebinds it', () => {
  const nameserver = new HostileNameserver();
  let inside: Server[];
  let server: string;
  let port: number;
  let reached = 0;

  beforeAll(async () => {
    server = await nameserver.start();
    const serve = (): Server =>
      createServer((_request, response) => {
        reached += 1;
        response.end('secret');
      });
    inside = [serve(), serve()];
    inside[0]!.listen(0, '127.0.0.1');
    await once(inside[0]!, 'listening');
    port = (inside[0]!.address() as AddressInfo).port;
    inside[1]!.on('error', () => undefined).listen(port, '::1');
  });
  afterEach(() => {
    nameserver.stage = 0;
    reached = 0;
  });
  afterAll(() => {
    nameserver.stop();
    for (const one of inside) one.close();
  });

  /** A resolver without cached answers, like that of another process. */
  const resolver = () =>
    resolveBy(
      new OutboundLookup(
        (hostname) => queryDns(hostname, [server]),
        () => Promise.reject(Object.assign(new Error(), { code: 'ENOTFOUND' })),
        () => Promise.resolve(false),
      ),
    );

  it.each(Object.keys(NAMES))('reaches no internal address: %s', async (name) => {
    const url = `http://${name}:${port}/`;
    const before = nameserver.queries;
    const rules = { allowPrivate: false, resolveName: resolver() };
    const outbound = new OutboundClient(rules);
    await outbound.assertDestinationUrl(url, 'url');
    expect(nameserver.queries).toBeGreaterThan(before);

    nameserver.stage = 1;
    const client = new OutboundClient({ allowPrivate: false, resolveName: resolver() });
    const media = new MediaFetcher({ allowPrivate: false, resolveName: resolver() });
    const outcome = await client.post({ url, headers: {}, body: '{}', timeoutMs: 3_000 });
    const isLoop = name.startsWith('loop.');
    expect(outcome).toMatchObject({
      ok: false,
      reason: expect.stringMatching(isLoop ? /cannot be found|did not answer/ : /public address/),
    });
    await expect(
      media.fetch(url, { signal: new AbortController().signal, param: 'image_url' }),
    ).rejects.toThrow(isLoop ? /could not be fetched/ : /could not be fetched/);
    if (!isLoop) {
      await expect(media.assertPublic(url, 'image_url')).rejects.toThrow(/could not be fetched/);
    }
    expect(reached).toBe(0);
    for (const part of [outbound, client, media]) await part.onApplicationShutdown();
  });

  it('reaches the same server where private addresses are allowed', async () => {
    nameserver.stage = 1;
    const client = new OutboundClient({ allowPrivate: true, resolveName: resolver() });
    const outcome = await client.post({
      url: `http://rebind.attack.test:${port}/`,
      headers: {},
      body: '{}',
    });
    expect(outcome).toMatchObject({ ok: true });
    expect(reached).toBe(1);
    await client.onApplicationShutdown();
  });
});
