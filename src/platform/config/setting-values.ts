import { isIP } from 'node:net';

const SHORTEST_KEY = 16;

const LONGEST_KEY = 512;

/** The required form of keys given by the operator, for messages. */
export const OPERATOR_KEY_RULES = {
  routing:
    'must start with "sk-" (not "sk-mgmt-" or "sk-admin-") and have 16 to 512 visible ASCII characters',
  management: 'must start with "sk-mgmt-" and have 16 to 512 visible ASCII characters',
  admin: 'must start with "sk-admin-" and have 16 to 512 visible ASCII characters',
} as const;

/** A billion USD: leaves room to add up many grants in exact integers. */
export const MAX_GRANT_CREDITS = 1_000_000_000_000_000;

export const MAX_RATE_LIMIT_PER_MINUTE = 1_000_000;

/** For keys created without a limit. */
export const DEFAULT_RATE_LIMIT_PER_MINUTE = 600;

/** The longest delay of setTimeout. */
export const MAX_TIMEOUT_MS = 2_147_483_647;

/** Returns whether a text is a URL with one of the schemes, given without a colon. */
export function isUrl(text: string, schemes: readonly string[]): boolean {
  const scheme = /^([a-z]+):\/\//i.exec(text)?.[1]?.toLowerCase();
  return scheme !== undefined && schemes.includes(scheme) && URL.canParse(text);
}

export function withoutTrailingSlash(url: string): string {
  return url.replace(/\/+$/, '');
}

/** An address, or a network with a prefix. */
export interface Network {
  readonly address: string;
  readonly prefix: number;
  readonly family: 'ipv4' | 'ipv6';
}

/** Parses `10.0.0.1,192.168.0.0/16,fd00::/8`; undefined when malformed. */
export function readNetworks(text: string): readonly Network[] | undefined {
  const networks: Network[] = [];
  for (const item of text.split(',').map((each) => each.trim())) {
    if (item === '') continue;
    const [, address = '', digits] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(item) ?? [];
    const version = isIP(address);
    const longest = version === 4 ? 32 : 128;
    const prefix = digits === undefined ? longest : Number(digits);
    if (version === 0 || prefix > longest) return undefined;
    networks.push({ address, prefix, family: version === 4 ? 'ipv4' : 'ipv6' });
  }
  return networks;
}

/** Parses `https://app.example,http://localhost:5173`, or `*` alone; undefined when malformed. */
export function readOrigins(text: string): readonly string[] | undefined {
  const origins = text.split(',').map((each) => each.trim().toLowerCase());
  const given = origins.filter((origin) => origin !== '');
  if (given.length === 1 && given[0] === '*') return given;
  return given.every((origin) => /^[a-z][a-z\d+.-]*:\/\/[^\s/?#*]+$/.test(origin))
    ? given
    : undefined;
}

/** Parses `priced-as:<row>,<row>` with catalogue ids; undefined when malformed. */
export function readPricedAs(text: string): string[] | undefined {
  const [, list] = /^priced-as:(.+)$/.exec(text) ?? [];
  const ids = list?.split(',').map((id) => id.trim());
  return ids?.every((id) => /^[a-z0-9-]+\/[^\s*]+$/.test(id)) ? ids : undefined;
}

/** Parses `name=value,name=value` with percent-encoded values, OpenTelemetry's form of lists; undefined when malformed. */
export function readPairs(text: string): Record<string, string> | undefined {
  const pairs: [string, string][] = [];
  for (const item of text.split(',').map((each) => each.trim())) {
    if (item === '') continue;
    const equals = item.indexOf('=');
    if (equals < 1) return undefined;
    try {
      const value = decodeURIComponent(item.slice(equals + 1).trim());
      pairs.push([item.slice(0, equals).trim(), value]);
    } catch {
      return undefined;
    }
  }
  return Object.fromEntries(pairs);
}

/** Returns whether the operator may declare this key: free-form after its prefix, but printable ASCII without trailing spaces, as HTTP headers require. */
export function isOperatorKey(type: keyof typeof OPERATOR_KEY_RULES, key: string): boolean {
  if (key.length < SHORTEST_KEY || key.length > LONGEST_KEY) return false;
  if (!/^[\x20-\x7e]*[\x21-\x7e]$/.test(key)) return false;
  if (key.startsWith('sk-mgmt-')) return type === 'management';
  if (key.startsWith('sk-admin-')) return type === 'admin';
  return type === 'routing' && key.startsWith('sk-');
}
