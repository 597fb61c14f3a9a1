import { IsOptional } from 'class-validator';
import { UrlVariable, Describe } from '../../platform/config/variable.decorators.js';
import { KEY_ONLY, type Vendor } from '../vendor.js';
import { isPrefill, PREFILLS } from '../dialects/chat/chat-prefill.js';
import { OpenAiAdapter } from './openai.adapter.js';

class OpenAiEnv {
  @Describe(
    'The API key; configures the provider `openai`. Comma-separated keys form a pool of accounts',
    {
      example: 'sk-proj-…',
      isSecret: true,
    },
  )
  @IsOptional()
  OPENAI_API_KEY?: string;

  @Describe('Base URL that ends in `/v1`', {
    default: 'https://api.openai.com/v1',
    example: 'https://proxy.example/v1',
  })
  @UrlVariable('http', 'https')
  OPENAI_BASE_URL?: string;
}

export const openAi: Vendor<OpenAiEnv> = {
  id: 'openai',
  name: 'OpenAI',
  type: 'openai',
  listedAs: ['openai', 'text-completion-openai'],
  kinds: ['chat', 'embedding', 'speech', 'transcription', 'image', 'video'],
  isDefault: true,
  settingRules: {
    outputLimitField: (value) =>
      value === 'max_tokens' || value === 'max_completion_tokens'
        ? undefined
        : 'must be max_tokens or max_completion_tokens',
    prefill: (value) => (isPrefill(value) ? undefined : `must be one of ${PREFILLS.join(', ')}`),
    responses: (value) =>
      value === 'true' || value === 'false' ? undefined : 'must be "true" or "false"',
  },
  placelessSettings: ['outputLimitField', 'prefill', 'responses'],
  Variables: OpenAiEnv,
  baseUrl: (env) => env.OPENAI_BASE_URL ?? 'https://api.openai.com/v1',
  account: ({ OPENAI_API_KEY: apiKey }) => (apiKey ? { apiKey } : undefined),
  accountForm: KEY_ONLY,
  createAdapter: (provider, { transport, mediaFetcher }) =>
    new OpenAiAdapter(provider, transport, mediaFetcher),
};
