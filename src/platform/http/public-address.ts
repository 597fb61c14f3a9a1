import { lookup, type LookupAddress, type LookupOptions, promises as dns } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';
import { buildConnector } from 'undici';
import { readFile } from 'node:fs/promises';
import { LRUCache } from 'lru-cache';

/** Name servers are awaited for a little over twice this. */
const QUERY_TIMEOUT_MS = 1_000;

const QUERY_TRIES = 2;

/** How long an answer is reused. */
const KEPT_MS = 5_000;

const MAX_KEPT = 1_000;

const HOSTS_FILE = '/etc/hosts';

/** DNS errors for names that only this machine may know, or without DNS. */
const ASK_THE_SYSTEM = new Set(['ENOTFOUND', 'ENODATA', 'ECONNREFUSED']);

/**
 * Resolves names that tenants chose. The system's look-up blocks a thread, which vendors' names need too, for as long as
 * a name server hangs. So name servers are queried directly with time limits; names that they do not know and those in the
 * hosts file go to the system, one at a time.
 */
export class OutboundLookup {
  private readonly underWay = new Map<string, Promise<LookupAddress[]>>();
  private readonly kept = new LRUCache<string, LookupAddress[]>({ max: MAX_KEPT, ttl: KEPT_MS });
  private systemTail: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly askDns: FindAddresses = (hostname) => queryDns(hostname),
    private readonly askSystem: FindAddresses = querySystem,
    private readonly isLocal: (hostname: string) => Promise<boolean> = isLocalName,
  ) {}

  /** Shares a look-up among callers at the same time or shortly after. */
  find(hostname: string): Promise<LookupAddress[]> {
    const family = isIP(hostname);
    if (family !== 0) return Promise.resolve([{ address: hostname, family }]);
    const known = this.kept.get(hostname);
    if (known) return Promise.resolve(known);
    let search = this.underWay.get(hostname);
    if (!search) {
      search = this.search(hostname).finally(() => this.underWay.delete(hostname));
      this.underWay.set(hostname, search);
    }
    return search;
  }

  private async search(hostname: string): Promise<LookupAddress[]> {
    const addresses = (await this.isLocal(hostname))
      ? await this.inTurn(hostname)
      : await this.askDns(hostname).catch((error: NodeJS.ErrnoException) => {
          if (ASK_THE_SYSTEM.has(error.code ?? '')) return this.inTurn(hostname);
          // The code that the system uses.
          throw Object.assign(error, { code: 'EAI_AGAIN' });
        });
    this.kept.set(hostname, addresses);
    return addresses;
  }

  private inTurn(hostname: string): Promise<LookupAddress[]> {
    const turn = this.systemTail.then(() => this.askSystem(hostname));
    this.systemTail = turn.catch(() => undefined);
    return turn;
  }
}

/** One per process, so that its limits hold for all outbound calls. */
const outboundLookup = new OutboundLookup();

/** The IPv6 range for public use; others are reserved or map other networks. */
const GLOBAL_IPV6 = ipaddr.parseCIDR('2000::/3');

/** Azure's host address, which hands out the machine's configuration and is in no special range. */
const HOST_OF_MACHINE = '168.63.129.16';
/** Metadata and credential services of clouds outside the link-local ranges. */
const METADATA_RANGES = [
  `${HOST_OF_MACHINE}/32`,
  '100.100.100.200/32',
  '192.0.0.192/32',
  'fd00:ec2::/32',
  'fd20:ce::254/128',
].map((range) => ipaddr.parseCIDR(range));

const METADATA_NAMES =
  /^(?:metadata\.google\.internal|metadata\.goog|instance-data(?:\.ec2\.internal)?)\.?$/i;

/** IPv6 ranges whose addresses carry an IPv4 address, and the byte at which it starts. */
const CARRIERS = (
  [
    ['::ffff:0:0/96', 12],
    ['::/96', 12],
    ['::ffff:0:0:0/96', 12],
    ['64:ff9b::/96', 12],
    ['64:ff9b:1::/96', 12],
    ['2002::/16', 2],
  ] as const
).map(([range, start]) => ({ range: ipaddr.parseCIDR(range), start }));

/** Thrown for a host that does not lead to a public address. */
export class PrivateAddressError extends Error {
  readonly code = 'ERR_PRIVATE_ADDRESS';

  constructor() {
    super('the address is not public');
    this.name = PrivateAddressError.name;
  }
}

/**
 * Returns whether an IP address is on the public internet: not loopback, private, link-local, shared (CGNAT),
 * multicast, unspecified, reserved or a cloud's own, nor an IPv6 form that embeds an IPv4 address (mapped, NAT64, 6to4,
 * Teredo), which may hide any of those.
 */
export function isPublicAddress(address: string): boolean {
  if (isIP(address) === 0 || address === HOST_OF_MACHINE) return false;
  const parsed = ipaddr.parse(address);
  if (parsed.range() !== 'unicast') return false;
  return parsed.kind() === 'ipv4' || parsed.match(GLOBAL_IPV6);
}

/**
 * Returns whether an IP address is link-local or a cloud's metadata service, also as an IPv4 address inside an IPv6 one.
 * These services hand out the machine's credentials, and no operator's server is there.
 */
function isMetadataAddress(address: string): boolean {
  if (isIP(address) === 0) return false;
  const parsed = ipaddr.parse(address);
  const plain = parsed.kind() === 'ipv6' ? carriedBy(parsed) : parsed;
  return (
    plain.range() === 'linkLocal' ||
    METADATA_RANGES.some((range) => plain.kind() === range[0].kind() && plain.match(range))
  );
}

/** Returns the IPv4 address that an IPv6 address carries, or the address itself. */
function carriedBy(address: ipaddr.IPv4 | ipaddr.IPv6): ipaddr.IPv4 | ipaddr.IPv6 {
  const carrier = CARRIERS.find(({ range }) => address.match(range));
  if (!carrier) return address;
  return ipaddr.fromByteArray(address.toByteArray().slice(carrier.start, carrier.start + 4));
}

/** Returns whether a URL's host is a metadata service by its name, or an address as `isMetadataAddress` has it. */
export function isMetadataHost(url: Pick<URL, 'hostname'>): boolean {
  return METADATA_NAMES.test(url.hostname) || isMetadataAddress(addressIn(url) ?? '');
}

/** Returns the IP address that a URL's host spells out; undefined for a name. */
function addressIn({ hostname }: Pick<URL, 'hostname'>): string | undefined {
  const host = hostname.replace(/^\[|\]$/g, '');
  return isIP(host) === 0 ? undefined : host;
}

/** Resolves a name; `OutboundLookup` outside of tests. */
export type Resolve = (
  hostname: string,
  options: LookupOptions & { all: true },
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

/** Returns a resolver with the signature of Node's `dns.lookup` that returns addresses of both families. */
export function resolveBy(addresses: Pick<OutboundLookup, 'find'>): Resolve {
  return (hostname, _options, callback) => {
    addresses.find(hostname).then(
      (found) => callback(null, found),
      (error: NodeJS.ErrnoException) => callback(error, []),
    );
  };
}

export const resolveOutbound: Resolve = resolveBy(outboundLookup);

/** A socket `lookup` that rejects metadata services only. */
function anyLookup(resolveName: Resolve): LookupFunction {
  return (hostname, options, callback) => {
    resolveName(hostname, { ...options, all: true }, (error, addresses) => {
      const [first] = addresses ?? [];
      if (error || !first) return callback(error ?? new Error('no address'), '');
      if (addresses.some(({ address }) => isMetadataAddress(address))) {
        return callback(new PrivateAddressError(), '');
      }
      if (options.all) return callback(null, addresses);
      callback(null, first.address, first.family);
    });
  };
}

/**
 * A socket `lookup` for public addresses only. A name with any other address fails as a whole. The socket connects to the
 * address that was checked, so that DNS rebinding gains nothing.
 */
export function publicLookup(resolveName: Resolve = resolveOutbound): LookupFunction {
  return (hostname, options, callback) => {
    resolveName(hostname, { ...options, all: true }, (error, addresses) => {
      const [first] = addresses ?? [];
      if (error || !first) return callback(error ?? new PrivateAddressError(), '');
      if (!addresses.every(({ address }) => isPublicAddress(address))) {
        return callback(new PrivateAddressError(), '');
      }
      if (options.all) return callback(null, addresses);
      callback(null, first.address, first.family);
    });
  };
}

interface PublicConnectorOptions {
  timeoutMs: number;
  /** Allows private addresses. */
  allowPrivate: boolean;
  resolveName?: Resolve;
}

/** A `connect` for undici that reaches public addresses only, by name or literal. */
export function publicConnector(options: PublicConnectorOptions): buildConnector.connector {
  const { timeoutMs, allowPrivate, resolveName = resolveOutbound } = options;
  const lookup = allowPrivate ? anyLookup(resolveName) : publicLookup(resolveName);
  const connect = buildConnector({ timeout: timeoutMs, lookup });
  return (target, callback) => {
    // Sockets do not look up literal addresses, so those are checked here.
    const address = addressIn(target);
    const isRefused = !allowPrivate && address !== undefined && !isPublicAddress(address);
    if (isRefused || isMetadataHost(target)) {
      callback(new PrivateAddressError(), null);
      return;
    }
    connect(target, callback);
  };
}

/** A `connect` for undici that reaches the operator's servers: any address but metadata services. */
export function operatorConnector(timeoutMs: number): buildConnector.connector {
  return publicConnector({
    timeoutMs,
    allowPrivate: true,
    resolveName: (hostname, options, callback) => lookup(hostname, options, callback),
  });
}

/** Returns all addresses of a name. Rejects with one of Node's error codes. */
export type FindAddresses = (hostname: string) => Promise<LookupAddress[]>;

/** @param servers as `ip:port`; the system's when omitted */
export async function queryDns(
  hostname: string,
  servers?: readonly string[],
): Promise<LookupAddress[]> {
  const resolver = new dns.Resolver({ timeout: QUERY_TIMEOUT_MS, tries: QUERY_TRIES });
  if (servers) resolver.setServers(servers);
  const [four, six] = await Promise.allSettled([
    resolver.resolve4(hostname),
    resolver.resolve6(hostname),
  ]);
  const addresses = [
    ...(four.status === 'fulfilled' ? four.value : []).map((address) => ({ address, family: 4 })),
    ...(six.status === 'fulfilled' ? six.value : []).map((address) => ({ address, family: 6 })),
  ];
  if (addresses.length > 0) return addresses;
  throw four.status === 'rejected'
    ? four.reason
    : Object.assign(new Error(), { code: 'ENOTFOUND' });
}

function querySystem(hostname: string): Promise<LookupAddress[]> {
  return new Promise((resolve, reject) => {
    lookup(hostname, { all: true }, (error, addresses) => {
      if (error) reject(error);
      else resolve(addresses);
    });
  });
}

/** Names without a dot, `localhost` and names in the hosts file, for which name servers may have other answers. */
async function isLocalName(hostname: string): Promise<boolean> {
  const name = hostname.toLowerCase().replace(/\.$/, '');
  if (!name.includes('.') || name.endsWith('.localhost')) return true;
  const hosts = await readFile(HOSTS_FILE, 'utf8').catch(() => '');
  return hosts
    .split('\n')
    .some((line) => line.replace(/#.*/, '').toLowerCase().split(/\s+/).slice(1).includes(name));
}
