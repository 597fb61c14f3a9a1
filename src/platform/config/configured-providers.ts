import type { ProviderConfig } from './app-config.js';
import type { EnvDto } from './env.dto.js';
import { withoutTrailingSlash } from './is-url.js';

/** Adapters turn these into the vendor's current address for the region that the settings name. */
const NO_ADDRESS = '';
const NO_ENDPOINT = 'https://endpoint.invalid';

/** Which of a vendor's variables are missing when some of them are there. */
export function incompleteVendors(env: EnvDto): string[] {
  const problems: string[] = [];
  if (env.AZURE_OPENAI_API_KEY && !env.AZURE_OPENAI_ENDPOINT) {
    problems.push('AZURE_OPENAI_ENDPOINT must be set when AZURE_OPENAI_API_KEY is');
  }
  if (env.AWS_ACCESS_KEY_ID && !env.AWS_SECRET_ACCESS_KEY) {
    problems.push('AWS_SECRET_ACCESS_KEY must be set when AWS_ACCESS_KEY_ID is');
  }
  return problems;
}

/**
 * The providers in the order in which they are listed: vendors whose credential is there, the
 * operator's own, and the sandbox when it is asked for or when there is nothing else to call.
 */
export function configuredProviders(
  env: EnvDto,
  furtherProviders: readonly ProviderConfig[],
): ProviderConfig[] {
  const vendors = [
    openAi(env),
    anthropic(env),
    azure(env),
    bedrock(env),
    vertex(env),
    fishAudio(env),
  ];
  const configured = [...vendors.filter((provider) => provider !== undefined), ...furtherProviders];
  const isOn = env.GATEWAY_SANDBOX ? env.GATEWAY_SANDBOX === 'true' : configured.length === 0;
  return isOn ? [...configured, SANDBOX] : configured;
}

/**
 * Providers that tenants may use with accounts of their own: every vendor, at the operator's address
 * for it if there is one, and those of the operator's own that ask for a key. Without keys and
 * without the settings that belong to an account.
 */
export function ownAccountProviders(
  env: EnvDto,
  furtherProviders: readonly ProviderConfig[],
): ProviderConfig[] {
  // What an account consists of is filled in, so that each vendor is described as if it were configured.
  const given = { ...env, ...ANY_ACCOUNT };
  const vendors = [
    openAi(given),
    anthropic(given),
    azure(given),
    bedrock(given),
    vertex(given),
    fishAudio(given),
  ];
  return [
    ...vendors
      .filter((provider) => provider !== undefined)
      .map((provider) => ({ ...provider, apiKey: undefined, settings: {} })),
    ...furtherProviders
      .filter(({ takesOwnAccounts, apiKey }) => takesOwnAccounts ?? apiKey !== undefined)
      .map((provider) => ({ ...provider, apiKey: undefined })),
  ];
}

const ANY_ACCOUNT = {
  OPENAI_API_KEY: '-',
  ANTHROPIC_API_KEY: '-',
  AZURE_OPENAI_API_KEY: '-',
  // Each account has an endpoint of its own.
  AZURE_OPENAI_ENDPOINT: NO_ENDPOINT,
  AWS_ACCESS_KEY_ID: '-',
  AWS_SECRET_ACCESS_KEY: '-',
  GOOGLE_CLOUD_PROJECT: '-',
  FISH_AUDIO_API_KEY: '-',
};

const SANDBOX: ProviderConfig = {
  id: 'sandbox',
  name: 'Sandbox',
  adapter: 'sandbox',
  type: 'openai',
  baseUrl: NO_ADDRESS,
  apiKey: undefined,
  settings: {},
};

function openAi(env: EnvDto): ProviderConfig | undefined {
  if (!env.OPENAI_API_KEY) return undefined;
  return {
    id: 'openai',
    name: 'OpenAI',
    adapter: 'openai',
    type: 'openai',
    baseUrl: withoutTrailingSlash(env.OPENAI_BASE_URL ?? 'https://api.openai.com/v1'),
    apiKey: env.OPENAI_API_KEY,
    settings: {},
  };
}

function anthropic(env: EnvDto): ProviderConfig | undefined {
  if (!env.ANTHROPIC_API_KEY) return undefined;
  return {
    id: 'anthropic',
    name: 'Anthropic',
    adapter: 'anthropic',
    type: 'anthropic',
    baseUrl: withoutTrailingSlash(env.ANTHROPIC_BASE_URL ?? 'https://api.anthropic.com'),
    apiKey: env.ANTHROPIC_API_KEY,
    settings: {},
  };
}

function azure(env: EnvDto): ProviderConfig | undefined {
  if (!env.AZURE_OPENAI_ENDPOINT || !env.AZURE_OPENAI_API_KEY) return undefined;
  return {
    id: 'azure',
    name: 'Azure OpenAI',
    adapter: 'azure',
    type: 'azure',
    baseUrl: withoutTrailingSlash(env.AZURE_OPENAI_ENDPOINT),
    apiKey: env.AZURE_OPENAI_API_KEY,
    settings: { apiVersion: env.AZURE_OPENAI_API_VERSION },
  };
}

function bedrock(env: EnvDto): ProviderConfig | undefined {
  if (!env.AWS_ACCESS_KEY_ID || !env.AWS_SECRET_ACCESS_KEY) return undefined;
  return {
    id: 'bedrock',
    name: 'AWS Bedrock',
    adapter: 'bedrock',
    type: 'aws',
    baseUrl: withoutTrailingSlash(env.AWS_BEDROCK_ENDPOINT ?? NO_ADDRESS),
    apiKey: env.AWS_SECRET_ACCESS_KEY,
    settings: {
      accessKeyId: env.AWS_ACCESS_KEY_ID,
      sessionToken: env.AWS_SESSION_TOKEN,
      region: env.AWS_REGION ?? 'us-east-1',
    },
  };
}

/** Without an access token the application default credentials are used. */
function vertex(env: EnvDto): ProviderConfig | undefined {
  if (!env.GOOGLE_CLOUD_PROJECT) return undefined;
  return {
    id: 'vertex',
    name: 'Google Vertex AI',
    adapter: 'vertex',
    type: 'gcp',
    baseUrl: withoutTrailingSlash(env.VERTEX_BASE_URL ?? NO_ADDRESS),
    apiKey: env.VERTEX_ACCESS_TOKEN,
    settings: {
      project: env.GOOGLE_CLOUD_PROJECT,
      location: env.VERTEX_LOCATION ?? 'us-central1',
    },
  };
}

/** A vendor of no kind that the interface has; it is listed by the kind whose API callers use. */
function fishAudio(env: EnvDto): ProviderConfig | undefined {
  if (!env.FISH_AUDIO_API_KEY) return undefined;
  return {
    id: 'fish-audio',
    name: 'Fish Audio',
    adapter: 'fish-audio',
    type: 'openai',
    baseUrl: withoutTrailingSlash(env.FISH_AUDIO_BASE_URL ?? 'https://api.fish.audio'),
    apiKey: env.FISH_AUDIO_API_KEY,
    settings: {},
  };
}
