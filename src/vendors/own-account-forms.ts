import { isIP } from 'node:net';
import type { ProviderConfig } from '../platform/config/app-config.js';
import { isPublicAddress } from '../platform/http/public-address.js';

/** What an account's settings are checked against besides their form. */
export interface AccountRules {
  /** Lifts the rule that addresses must be public ones, spoken to by https. */
  allowPrivate: boolean;
}

/** One thing that the vendor has to know of an account, beside its key. */
export interface AccountSetting {
  isRequired: boolean;
  /** For the interface's description. */
  description: string;
  /** What is wrong with a value, as the end of a sentence that begins with its name. */
  faultOf(value: string, rules: AccountRules): string | undefined;
}

/** A tenant's own account with a provider. */
export interface OwnAccount {
  key: string;
  /** By the names of the form. */
  settings: Readonly<Record<string, string>>;
}

/** A key that can be stored. */
export interface AccountKey {
  key: string;
  /** What may be shown of it. */
  preview: string;
}

/** What a tenant has to tell of an account of its own, for one adapter. */
export interface OwnAccountForm {
  settings: Readonly<Record<string, AccountSetting>>;
  /** What the key is called at the vendor. */
  keyDescription: string;
  /** What is stored of the key, or what is wrong with it, as the end of a sentence. */
  readKey(given: string): AccountKey | { fault: string };
  /** Whether the address follows from what the tenant says, so that each account has its own. */
  hasOwnAddress(provider: ProviderConfig): boolean;
  /** @param provider the operator's description of the provider, without a key */
  configure(provider: ProviderConfig, account: OwnAccount): ProviderConfig;
}

const MAX_KEY_LENGTH = 8_192;
const KEY = /^[\x21-\x7e]{8,8192}$/;
const MAX_ENDPOINT_LENGTH = 255;

/** Of a shorter key most must stay hidden, so less of it is shown. */
const SHOWS_BOTH_ENDS = 20;

function previewOf(key: string): string {
  return key.length < SHOWS_BOTH_ENDS
    ? `...${key.slice(-2)}`
    : `${key.slice(0, 4)}...${key.slice(-4)}`;
}

function readPlainKey(key: string): AccountKey | { fault: string } {
  return KEY.test(key)
    ? { key, preview: previewOf(key) }
    : {
        fault: `must have 8 to ${MAX_KEY_LENGTH} visible ASCII characters, without spaces or line breaks`,
      };
}

function patternSetting(
  isRequired: boolean,
  pattern: RegExp,
  description: string,
  fault: string,
): AccountSetting {
  return {
    isRequired,
    description,
    faultOf: (value) => (pattern.test(value) ? undefined : fault),
  };
}

const KEY_ONLY: OwnAccountForm = {
  settings: {},
  keyDescription: 'The API key.',
  readKey: readPlainKey,
  hasOwnAddress: () => false,
  configure: (provider, { key }) => ({ ...provider, apiKey: key }),
};

const AZURE: OwnAccountForm = {
  settings: {
    endpoint: {
      isRequired: true,
      description: 'The resource, a bare origin: `https://my-resource.openai.azure.com`.',
      faultOf: faultOfEndpoint,
    },
    api_version: patternSetting(
      false,
      /^[0-9a-z.-]{1,40}$/,
      'API version of the deployment paths; without it, the v1 paths are used.',
      'must be an API version such as 2024-10-21',
    ),
  },
  keyDescription: 'The API key of the resource.',
  readKey: readPlainKey,
  hasOwnAddress: () => true,
  configure: (provider, { key, settings }) => ({
    ...provider,
    baseUrl: new URL(settings.endpoint ?? '').origin,
    apiKey: key,
    settings: { apiVersion: settings.api_version },
  }),
};

const BEDROCK: OwnAccountForm = {
  settings: {
    access_key_id: patternSetting(
      true,
      /^[A-Za-z0-9]{16,128}$/,
      'Id of the access key of an IAM user.',
      'must be an access key id of 16 to 128 letters and digits',
    ),
    region: patternSetting(
      true,
      /^[a-z0-9](?:[a-z0-9-]{0,30}[a-z0-9])?$/,
      'Region whose models are called.',
      'must be a region such as eu-central-1',
    ),
  },
  keyDescription: 'The secret access key.',
  readKey: readPlainKey,
  hasOwnAddress: ({ baseUrl }) => baseUrl === '',
  configure: (provider, { key, settings }) => ({
    ...provider,
    apiKey: key,
    settings: { accessKeyId: settings.access_key_id, region: settings.region },
  }),
};

const VERTEX: OwnAccountForm = {
  settings: {
    project: patternSetting(
      true,
      /^[a-z0-9](?:[a-z0-9.:-]{0,61}[a-z0-9])?$/,
      'Id of the project.',
      'must be the id of a project',
    ),
    location: patternSetting(
      false,
      /^[a-z0-9](?:[a-z0-9-]{0,30}[a-z0-9])?$/,
      'Location whose models are called; `us-central1` without it.',
      'must be a location such as us-central1 or global',
    ),
  },
  keyDescription: "The JSON of a service account's key, or an access token.",
  readKey: readGoogleKey,
  hasOwnAddress: ({ baseUrl }) => baseUrl === '',
  configure: (provider, { key, settings }) => ({
    ...provider,
    apiKey: key,
    settings: { project: settings.project, location: settings.location ?? 'us-central1' },
  }),
};

const FORMS: Readonly<Record<string, OwnAccountForm>> = {
  azure: AZURE,
  bedrock: BEDROCK,
  vertex: VERTEX,
};

/** The form of accounts with a provider, by its adapter; most have a key and nothing else. */
export function ownAccountFormOf({ adapter }: Pick<ProviderConfig, 'adapter'>): OwnAccountForm {
  return (Object.hasOwn(FORMS, adapter) && FORMS[adapter]) || KEY_ONLY;
}

/**
 * Names are only looked up when a connection is made, which is where the rule on addresses is kept;
 * an address that is spelled out can be refused at once.
 */
function faultOfEndpoint(value: string, { allowPrivate }: AccountRules): string | undefined {
  const fault = 'must be an origin such as https://my-resource.openai.azure.com, without a path';
  if (value.length > MAX_ENDPOINT_LENGTH || !/^https?:\/\//i.test(value) || !URL.canParse(value)) {
    return fault;
  }
  const url = new URL(value);
  const { protocol, username, password, pathname, search, hash } = url;
  if (username !== '' || password !== '' || pathname !== '/' || search !== '' || hash !== '') {
    return fault;
  }
  if (allowPrivate) return undefined;
  if (protocol !== 'https:') return 'must begin with https://';
  const host = url.hostname.replace(/^\[|\]$/g, '');
  return isIP(host) !== 0 && !isPublicAddress(host) ? 'must lead to a public address' : undefined;
}

/**
 * A service account's JSON is cut down to what signs for it: its other members name addresses to
 * call, which are not a tenant's to choose.
 */
function readGoogleKey(given: string): AccountKey | { fault: string } {
  if (!given.trimStart().startsWith('{')) return readPlainKey(given);
  const fault = 'must be the JSON of a key of a service account, or an access token';
  if (given.length > MAX_KEY_LENGTH) return { fault };
  let parsed: Record<string, unknown>;
  try {
    parsed = JSON.parse(given) as Record<string, unknown>;
  } catch {
    return { fault };
  }
  const { type, client_email: email, private_key: privateKey } = parsed;
  if (type !== 'service_account' || typeof email !== 'string' || typeof privateKey !== 'string') {
    return { fault };
  }
  if (!/^[^\s@]{1,128}@[^\s@]{1,128}$/.test(email) || !privateKey.startsWith('-----BEGIN ')) {
    return { fault };
  }
  const key = JSON.stringify({ type, client_email: email, private_key: privateKey });
  return { key, preview: email };
}
