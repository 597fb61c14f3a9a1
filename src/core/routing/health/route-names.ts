/** Ends a tenant's account in a name; no provider's id has one. */
const OWNER_END = ':';
/** Begins one of the operator's accounts behind its provider's id, where there are several. */
const ACCOUNT_BEGIN = '@';
/** Ends the name for whole answers; no vendor's name of a model has one. */
const WHOLE_END = '\n';

/** Which route a memory is about: a provider's model, or with no model the whole provider. */
export interface HealthKey {
  provider: string;
  upstreamModel: string;
  /** One of several accounts of the operator's, each of which fails for itself. */
  account?: string | undefined;
  /** Of one account of a pool, which rests by itself while the others serve. */
  pooled?: object | undefined;
  /** Of a tenant's own account, whose failures are no one else's. */
  byok?: { credential: { id: string }; hasTenantAddress: boolean };
}

export function modelKey({ provider, account, upstreamModel, byok }: HealthKey): string {
  if (account !== undefined) return `${provider}${ACCOUNT_BEGIN}${account}/${upstreamModel}`;
  const key = `${provider}/${upstreamModel}`;
  return byok ? `${byok.credential.id}${OWNER_END}${key}` : key;
}

/** For the latency of answers that are not streamed, which says nothing of the others. */
export function wholeKey(key: HealthKey): string {
  return `${modelKey(key)}${WHOLE_END}`;
}

export function providerKey({ provider, account, byok }: HealthKey): string {
  if (account !== undefined) return `${provider}${ACCOUNT_BEGIN}${account}`;
  return byok?.hasTenantAddress ? `${byok.credential.id}${OWNER_END}${provider}` : provider;
}

/**
 * A tenant's own account as a whole, whatever its model; undefined where that has no name of its own: of shared
 * capacity, and of what has an address of its own, which is the provider there.
 */
export function ownAccountKey({ provider, byok }: HealthKey): string | undefined {
  if (!byok || byok.hasTenantAddress) return undefined;
  return `${byok.credential.id}${OWNER_END}${provider}`;
}

/** What a name says. An upstream model may hold any character, but only behind the first slash. */
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
