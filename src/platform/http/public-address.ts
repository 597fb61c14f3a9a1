import type { LookupAddress, LookupOptions } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';
import { buildConnector } from 'undici';
import { outboundLookup } from './outbound-lookup.js';

/** All of IPv6 that is handed out for public use; the rest is reserved, or stands for other networks. */
const GLOBAL_IPV6 = ipaddr.parseCIDR('2000::/3');

/**
 * Ranges say nothing of this one: in the machines of a large cloud it is the host below them, which
 * hands out their configuration.
 */
const HOST_OF_MACHINE = '168.63.129.16';

/** A host that leads elsewhere than to a public address. */
export class PrivateAddressError extends Error {
  readonly code = 'ERR_PRIVATE_ADDRESS';

  constructor() {
    super('the address is not a public one');
    this.name = PrivateAddressError.name;
  }
}

/**
 * Whether an IP address belongs to the public internet: not loopback, private, link-local, shared
 * (CGNAT), multicast, unspecified, reserved or a cloud's own, nor an IPv6 form that carries an IPv4 address
 * (mapped, NAT64, 6to4, Teredo), behind which any of those may hide.
 */
export function isPublicAddress(address: string): boolean {
  if (isIP(address) === 0 || address === HOST_OF_MACHINE) return false;
  const parsed = ipaddr.parse(address);
  if (parsed.range() !== 'unicast') return false;
  return parsed.kind() === 'ipv4' || parsed.match(GLOBAL_IPV6);
}

/** How names are resolved; `OutboundLookup` outside of tests. */
export type Resolve = (
  hostname: string,
  options: LookupOptions & { all: true },
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

/** As node's `dns.lookup` is called. Which family is wanted makes no difference: all are given. */
export const resolveOutbound: Resolve = (hostname, _options, callback) => {
  outboundLookup.find(hostname).then(
    (addresses) => callback(null, addresses),
    (error: NodeJS.ErrnoException) => callback(error, []),
  );
};

/** A `lookup` for sockets that gives any address. */
function anyLookup(resolveName: Resolve): LookupFunction {
  return (hostname, options, callback) => {
    resolveName(hostname, { ...options, all: true }, (error, addresses) => {
      const [first] = addresses;
      if (error || !first) return callback(error ?? new Error('no address'), '');
      if (options.all) return callback(null, addresses);
      callback(null, first.address, first.family);
    });
  };
}

/**
 * A `lookup` for sockets that gives public addresses only. A name with any other address fails as
 * a whole. The socket connects to what was checked, so that a name which changes its mind between
 * check and use gains nothing.
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

export interface PublicConnectorOptions {
  timeoutMs: number;
  /** Lifts the rule: any address will do. */
  allowPrivate: boolean;
  resolveName?: Resolve;
}

/** A `connect` for undici's clients that reaches public addresses only, whether named or literal. */
export function publicConnector(options: PublicConnectorOptions): buildConnector.connector {
  const { timeoutMs, allowPrivate, resolveName = resolveOutbound } = options;
  if (allowPrivate) {
    return buildConnector({ timeout: timeoutMs, lookup: anyLookup(resolveName) });
  }
  const connect = buildConnector({ timeout: timeoutMs, lookup: publicLookup(resolveName) });
  return (target, callback) => {
    // Sockets do not look literal addresses up, so these have to be seen here.
    const host = target.hostname.replace(/^\[|\]$/g, '');
    if (isIP(host) !== 0 && !isPublicAddress(host)) {
      callback(new PrivateAddressError(), null);
      return;
    }
    connect(target, callback);
  };
}
