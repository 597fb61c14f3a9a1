import { lookup, promises as dns, type LookupAddress } from 'node:dns';
import { readFile } from 'node:fs/promises';
import { isIP } from 'node:net';

/** All addresses of a name. Rejects with an error that has one of node's codes. */
export type FindAddresses = (hostname: string) => Promise<LookupAddress[]>;

/** Twice this, and a little more, is the longest that a nameserver is waited for. */
const QUERY_TIMEOUT_MS = 1_000;
const QUERY_TRIES = 2;
/** For so long an answer serves everybody who connects. */
const KEPT_MS = 5_000;
const MAX_KEPT = 1_000;
const HOSTS_FILE = '/etc/hosts';

/** What DNS says of names that only this machine may know, or when there is no DNS here. */
const ASK_THE_SYSTEM = new Set(['ENOTFOUND', 'ENODATA', 'ECONNREFUSED']);

/**
 * Finds the addresses of names that tenants chose. The system's own look-up takes a thread that
 * vendors' names need as well, for as long as a nameserver hangs, and cannot be broken off. So
 * nameservers are asked directly, with time limits; only names that they do not know, or that stand
 * in the hosts file, are left to the system, one at a time.
 */
export class OutboundLookup {
  private readonly underWay = new Map<string, Promise<LookupAddress[]>>();
  private readonly kept = new Map<string, { addresses: LookupAddress[]; untilMs: number }>();
  private systemTail: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly askDns: FindAddresses = queryDns,
    private readonly askSystem: FindAddresses = querySystem,
    private readonly isLocal: (hostname: string) => Promise<boolean> = isLocalName,
  ) {}

  /** What is asked for at the same time, or a moment later, is looked up once. */
  find(hostname: string): Promise<LookupAddress[]> {
    const family = isIP(hostname);
    if (family !== 0) return Promise.resolve([{ address: hostname, family }]);
    const known = this.kept.get(hostname);
    if (known && performance.now() < known.untilMs) return Promise.resolve(known.addresses);
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
          // As the system says it.
          throw Object.assign(error, { code: 'EAI_AGAIN' });
        });
    this.kept.delete(hostname);
    this.kept.set(hostname, { addresses, untilMs: performance.now() + KEPT_MS });
    if (this.kept.size > MAX_KEPT) {
      const [oldest] = this.kept.keys();
      if (oldest !== undefined) this.kept.delete(oldest);
    }
    return addresses;
  }

  private inTurn(hostname: string): Promise<LookupAddress[]> {
    const turn = this.systemTail.then(() => this.askSystem(hostname));
    this.systemTail = turn.catch(() => undefined);
    return turn;
  }
}

/** Of this process, so that its limits hold for all who call out. */
export const outboundLookup = new OutboundLookup();

async function queryDns(hostname: string): Promise<LookupAddress[]> {
  const resolver = new dns.Resolver({ timeout: QUERY_TIMEOUT_MS, tries: QUERY_TRIES });
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

/** Names without a dot, `localhost` and what the hosts file has: nameservers may say otherwise. */
async function isLocalName(hostname: string): Promise<boolean> {
  const name = hostname.toLowerCase().replace(/\.$/, '');
  if (!name.includes('.') || name.endsWith('.localhost')) return true;
  const hosts = await readFile(HOSTS_FILE, 'utf8').catch(() => '');
  return hosts
    .split('\n')
    .some((line) => line.replace(/#.*/, '').toLowerCase().split(/\s+/).slice(1).includes(name));
}
