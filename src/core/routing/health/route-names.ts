/** Follows the tenant's account in a name; provider ids never contain it. */
const OWNER_END = ':';
/** Precedes the operator's account, after the provider's id, where there are several. */
const ACCOUNT_BEGIN = '@';
/** Marks the name used for whole answers; vendors' model names never contain it. */
const WHOLE_END = '\n';

/** Identifies a route's memory: a provider's model, or the whole provider without one. */
export interface HealthKey {
  provider: string;
  upstreamModel: string;
  /** One of several operator accounts; each fails independently. */
  account?: string | undefined;
  /** One account of a pool; it cools down while the others serve. */
  pooled?: object | undefined;
  /** A tenant's own account, whose failures affect no other tenant. */
  byok?: { credential: { id: string }; hasTenantAddress: boolean };
}

export function modelKey({ provider, account, upstreamModel, byok }: HealthKey): string {
  if (account !== undefined) return `${provider}${ACCOUNT_BEGIN}${account}/${upstreamModel}`;
  const key = `${provider}/${upstreamModel}`;
  return byok ? `${byok.credential.id}${OWNER_END}${key}` : key;
}

/** Returns the name for the latency of unstreamed answers, which differs from that of streams. */
export function wholeKey(key: HealthKey): string {
  return `${modelKey(key)}${WHOLE_END}`;
}

export function providerKey({ provider, account, byok }: HealthKey): string {
  if (account !== undefined) return `${provider}${ACCOUNT_BEGIN}${account}`;
  return byok?.hasTenantAddress ? `${byok.credential.id}${OWNER_END}${provider}` : provider;
}

/**
 * Returns the name of a tenant's own account across models. Undefined for shared capacity, and for
 * accounts with their own address, where the provider's name serves.
 */
export function ownAccountKey({ provider, byok }: HealthKey): string | undefined {
  if (!byok || byok.hasTenantAddress) return undefined;
  return `${byok.credential.id}${OWNER_END}${provider}`;
}

/** Parses a name. Only the upstream model, after the first slash, may contain any character. */
export function readName(name: string): {
  isOwn: boolean;
  provider: string;
  account: string | undefined;
  upstreamModel: string | undefined;
} {
  const slash = name.indexOf('/');
  const whole = slash === -1 ? name : name.slice(0, slash);
  const owner = whole.indexOf(OWNER_END);
  const [provider = '', account] = whole.slice(owner + 1).split(ACCOUNT_BEGIN);
  const upstreamModel = slash === -1 ? undefined : name.slice(slash + 1);
  return { isOwn: owner !== -1, provider, account, upstreamModel };
}
