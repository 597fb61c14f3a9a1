import type { IncomingMessage } from 'node:http';
import { BlockList, isIPv4, isIPv6 } from 'node:net';
import { Inject, Injectable } from '@nestjs/common';
import { APP_CONFIG, type AppConfig } from '../../platform/config/app-config.js';
import { networkOf, plainAddress } from '../../platform/http/network-of.js';

/** Longest chain of proxies that is followed. */
const MAX_FORWARDED = 20;

/** The parts of a request that reveal its origin. */
export type Addressed = Pick<IncomingMessage, 'headers' | 'socket'>;

/** Identifies clients without a key by their address. */
@Injectable()
export class ClientNetworks {
  private readonly proxies = new BlockList();
  private readonly hasProxies: boolean;

  constructor(@Inject(APP_CONFIG) { admission }: Pick<AppConfig, 'admission'>) {
    this.hasProxies = admission.trustedProxies.length > 0;
    for (const { address, prefix, family } of admission.trustedProxies) {
      this.proxies.addSubnet(address, prefix, family);
    }
  }

  /** Returns the client's IPv4 address, or the /64 of its IPv6 address. */
  of(request: Addressed): string {
    return networkOf(this.addressOf(request));
  }

  /** Returns the client's address: behind trusted proxies, the last one in `X-Forwarded-For` that is no proxy. */
  private addressOf({ headers, socket }: Addressed): string {
    let address = plainAddress(socket.remoteAddress ?? '');
    const forwarded = headers['x-forwarded-for'];
    if (!this.hasProxies || typeof forwarded !== 'string') return address;
    for (const hop of forwarded.split(',').slice(-MAX_FORWARDED).reverse()) {
      if (!this.isProxy(address)) break;
      const before = plainAddress(hop.trim());
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
