import { BlockList, isIPv4, isIPv6 } from 'node:net';
import { Inject, Injectable } from '@nestjs/common';
import { APP_CONFIG, type AppConfig } from '../../platform/config/app-config.js';
import { RateLimitError } from '../../platform/errors/gateway-errors.js';
import { WINDOW_MS } from './rate-limit-decisions.js';
import type { GatewayRequest } from './gateway-request.js';

/** Wrong keys that one address may send in a minute before it hears 429. */
const MAX_WRONG_KEYS = 100;
/** The oldest is forgotten for the next one. */
const MAX_ADDRESSES = 50_000;
/** Of proxies that stand one behind the other, so many are looked past. */
const MAX_FORWARDED = 20;

/**
 * Counts requests without a valid key by the address that they come from. Right keys from such an
 * address are served all the same: many callers may share it.
 */
@Injectable()
export class WrongKeys {
  private readonly proxies = new BlockList();
  private readonly hasProxies: boolean;
  private window = 0;
  private counts = new Map<string, number>();

  constructor(@Inject(APP_CONFIG) { admission }: Pick<AppConfig, 'admission'>) {
    this.hasProxies = admission.trustedProxies.length > 0;
    for (const { address, prefix, family } of admission.trustedProxies) {
      this.proxies.addSubnet(address, prefix, family);
    }
  }

  /** To be called for each. @throws RateLimitError when there were too many in this minute */
  note(request: Pick<GatewayRequest, 'headers' | 'socket'>): void {
    const nowMs = Date.now();
    const window = Math.floor(nowMs / WINDOW_MS);
    if (window !== this.window) {
      this.window = window;
      this.counts = new Map();
    }
    const address = networkOf(this.addressOf(request));
    const count = (this.counts.get(address) ?? 0) + 1;
    if (count === 1 && this.counts.size >= MAX_ADDRESSES) {
      const [oldest] = this.counts.keys();
      if (oldest !== undefined) this.counts.delete(oldest);
    }
    this.counts.set(address, count);
    if (count <= MAX_WRONG_KEYS) return;
    const retryAfterSeconds = Math.max(1, Math.ceil(((window + 1) * WINDOW_MS - nowMs) / 1000));
    throw new RateLimitError(
      'authorization',
      `More than ${MAX_WRONG_KEYS} requests without a valid API key came from this address within a minute. Try again in ${retryAfterSeconds} s, with a key that is complete and current.`,
      retryAfterSeconds,
      'wrong_keys_per_address',
    );
  }

  /** Of the caller; behind trusted proxies the last address in `X-Forwarded-For` that is none of them. */
  private addressOf({ headers, socket }: Pick<GatewayRequest, 'headers' | 'socket'>): string {
    let address = plain(socket.remoteAddress ?? '');
    const forwarded = headers['x-forwarded-for'];
    if (!this.hasProxies || typeof forwarded !== 'string') return address;
    for (const hop of forwarded.split(',').slice(-MAX_FORWARDED).reverse()) {
      if (!this.isProxy(address)) break;
      const before = plain(hop.trim());
      if (!isIPv4(before) && !isIPv6(before)) break;
      address = before;
    }
    return address;
  }

  private isProxy(address: string): boolean {
    if (isIPv4(address)) return this.proxies.check(address, 'ipv4');
    return isIPv6(address) && this.proxies.check(address, 'ipv6');
  }
}

/** An IPv4 address that comes over an IPv6 socket is one of IPv4 all the same. */
function plain(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  return mapped ?? address;
}

/** Whoever has one IPv6 address has all of its /64. */
function networkOf(address: string): string {
  if (!isIPv6(address)) return address;
  const [head = '', tail] = address.split('%', 1)[0]!.split('::');
  const groups = head === '' ? [] : head.split(':');
  const missing =
    tail === undefined ? 0 : 8 - groups.length - (tail === '' ? 0 : tail.split(':').length);
  const all = [
    ...groups,
    ...Array.from({ length: missing }, () => '0'),
    ...(tail ?? '').split(':'),
  ];
  return all
    .slice(0, 4)
    .map((group) => Number.parseInt(group || '0', 16).toString(16))
    .join(':');
}
