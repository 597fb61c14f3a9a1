import { IsOptional } from 'class-validator';
import { UrlVariable, Describe } from '../../platform/config/variable.decorators.js';
import {
  MAX_KEY_LENGTH,
  type Vendor,
  patternSetting,
  readPlainKey,
  type AccountKey,
  type ByokAccountForm,
} from '../vendor.js';
import { VertexAdapter } from './vertex.adapter.js';
import { objectOf } from '../dialects/answer-json.js';

class VertexEnv {
  @Describe('Project id; configures the provider `vertex`', { example: 'my-project' })
  @IsOptional()
  GOOGLE_CLOUD_PROJECT?: string;

  @Describe('Location to call. Comma-separated locations form a pool', {
    default: 'us-central1',
    example: 'global',
  })
  @IsOptional()
  VERTEX_LOCATION?: string;

  @Describe('Replaces the address of Vertex', {
    without: "the location's address",
    example: 'https://proxy.example',
  })
  @UrlVariable('http', 'https')
  VERTEX_BASE_URL?: string;

  @Describe('A fixed access token', {
    without: 'the application default credentials',
    example: 'ya29.…',
    isSecret: true,
  })
  @IsOptional()
  VERTEX_ACCESS_TOKEN?: string;
}

const PROJECT = patternSetting(
  true,
  /^[a-z0-9](?:[a-z0-9.:-]{0,61}[a-z0-9])?$/,
  'Project id.',
  'must be a project id',
);

const LOCATION = patternSetting(
  false,
  /^[a-z0-9](?:[a-z0-9-]{0,30}[a-z0-9])?$/,
  'Location to call; `us-central1` by default.',
  'must be a location such as us-central1 or global',
);

const FORM: ByokAccountForm = {
  settings: { project: PROJECT, location: LOCATION },
  keyDescription: 'A service account key as JSON, or an access token.',
  readKey: readGoogleKey,
  hasOwnAddress: ({ baseUrl }) => baseUrl === '',
  configure: (provider, { key, settings }) => ({
    ...provider,
    apiKey: key,
    settings: { project: settings.project, location: settings.location ?? 'us-central1' },
  }),
};

export const vertex: Vendor<VertexEnv> = {
  id: 'vertex',
  name: 'Google Vertex AI',
  type: 'gcp',
  listedAs: [
    'vertex_ai-language-models',
    'vertex_ai-anthropic_models',
    'vertex_ai-embedding-models',
    'vertex_ai',
    'google-vertex',
    'google-vertex-anthropic',
    'google',
  ],
  kinds: ['chat', 'embedding', 'image', 'video'],
  telemetryName: 'gcp.vertex_ai',
  Variables: VertexEnv,
  regionSetting: 'location',
  settingRules: { project: PROJECT.faultOf, location: LOCATION.faultOf },
  placelessSettings: ['project'],
  incomplete: (env) =>
    env.VERTEX_BASE_URL && env.VERTEX_LOCATION?.includes(',')
      ? [
          'VERTEX_BASE_URL must not be set when VERTEX_LOCATION lists several locations, because each has its own address',
        ]
      : [],
  // The adapter derives the address from the location when there is none.
  baseUrl: (env) => env.VERTEX_BASE_URL ?? '',
  // Without an access token, the application default credentials are used.
  account: ({
    GOOGLE_CLOUD_PROJECT: project,
    VERTEX_LOCATION: location = 'us-central1',
    VERTEX_ACCESS_TOKEN: apiKey,
  }) => (project ? { apiKey, settings: { project, location } } : undefined),
  accountForm: FORM,
  ambientHosts: /(?:^|\.)googleapis\.com$/,
  createAdapter: (provider, { transport }) => new VertexAdapter(provider, transport),
};

/**
 * Reduces a service account's JSON to the members needed for signing: the others contain URLs to call, which
 * a tenant must not choose.
 */
function readGoogleKey(given: string): AccountKey | { fault: string } {
  if (!given.trimStart().startsWith('{')) return readPlainKey(given);
  const fault = 'must be a service account key as JSON, or an access token';
  if (given.length > MAX_KEY_LENGTH) return { fault };
  let parsed: unknown;
  try {
    parsed = JSON.parse(given);
  } catch {
    return { fault };
  }
  const { type, client_email: email, private_key: privateKey } = objectOf(parsed);
  if (type !== 'service_account' || typeof email !== 'string' || typeof privateKey !== 'string') {
    return { fault };
  }
  if (!/^[^\s@]{1,128}@[^\s@]{1,128}$/.test(email) || !privateKey.startsWith('-----BEGIN ')) {
    return { fault };
  }
  const key = JSON.stringify({ type, client_email: email, private_key: privateKey });
  return { key, preview: email };
}
