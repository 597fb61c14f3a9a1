import { IsOptional } from 'class-validator';
import { isIP } from 'node:net';
import { UrlVariable, Describe } from '../../platform/config/variable.decorators.js';
import { isPublicAddress } from '../../platform/http/public-address.js';
import {
  patternSetting,
  type Vendor,
  readPlainKey,
  type AccountRules,
  type ByokAccountForm,
} from '../vendor.js';
import { AzureAdapter } from './azure.adapter.js';

const MAX_ENDPOINT_LENGTH = 255;

class AzureEnv {
  @Describe(
    'Address of the resource: an origin without a path. Configures the provider `azure` together with its key',
    {
      example: 'https://my-resource.openai.azure.com',
    },
  )
  @UrlVariable('http', 'https')
  AZURE_OPENAI_ENDPOINT?: string;

  @Describe('The API key of the resource; its models are deployments', {
    example: '0123456789abcdef',
    isSecret: true,
  })
  @IsOptional()
  AZURE_OPENAI_API_KEY?: string;

  @Describe('API version for deployment paths', {
    example: '2024-10-21',
    without: 'the v1 paths are used',
  })
  @IsOptional()
  AZURE_OPENAI_API_VERSION?: string;
}

const API_VERSION = patternSetting(
  false,
  /^[0-9a-z.-]{1,40}$/,
  'API version for deployment paths. By default, the v1 paths are used.',
  'must be an API version such as 2024-10-21',
);

const FORM: ByokAccountForm = {
  settings: {
    endpoint: {
      isRequired: true,
      description:
        'Address of the resource: an origin without a path, for example `https://my-resource.openai.azure.com`.',
      faultOf: faultOfEndpoint,
    },
    api_version: API_VERSION,
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

export const azure: Vendor<AzureEnv> = {
  id: 'azure',
  name: 'Azure OpenAI',
  type: 'azure',
  kinds: ['chat', 'embedding', 'image'],
  telemetryName: 'azure.ai.openai',
  Variables: AzureEnv,
  settingRules: { apiVersion: API_VERSION.faultOf },
  placelessSettings: ['apiVersion'],
  incomplete: (env) =>
    env.AZURE_OPENAI_API_KEY && !env.AZURE_OPENAI_ENDPOINT
      ? ['AZURE_OPENAI_ENDPOINT must be set when AZURE_OPENAI_API_KEY is']
      : [],
  // Each account has its own endpoint.
  baseUrl: () => 'https://endpoint.invalid',
  account: ({
    AZURE_OPENAI_ENDPOINT: baseUrl,
    AZURE_OPENAI_API_KEY: apiKey,
    AZURE_OPENAI_API_VERSION: apiVersion,
  }) => (baseUrl && apiKey ? { baseUrl, apiKey, settings: { apiVersion } } : undefined),
  accountForm: FORM,
  createAdapter: (provider, { transport, mediaFetcher }) =>
    new AzureAdapter(provider, transport, mediaFetcher),
};

/**
 * Validates an endpoint. Host names are resolved when connecting, where private addresses are blocked; a
 * literal address can be rejected at once.
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
  if (protocol !== 'https:') return 'must start with https://';
  const host = url.hostname.replace(/^\[|\]$/g, '');
  return isIP(host) !== 0 && !isPublicAddress(host) ? 'must be a public address' : undefined;
}
