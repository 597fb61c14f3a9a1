import { IsOptional } from 'class-validator';
import { UrlVariable, Describe } from '../../platform/config/variable.decorators.js';
import { KEY_ONLY, type Vendor } from '../vendor.js';
import { AnthropicAdapter } from './anthropic.adapter.js';

class AnthropicEnv {
  @Describe('The API key; configures the provider `anthropic`', {
    example: 'sk-ant-…',
    isSecret: true,
  })
  @IsOptional()
  ANTHROPIC_API_KEY?: string;

  @Describe('Base URL, without `/v1`', {
    default: 'https://api.anthropic.com',
    example: 'https://proxy.example',
  })
  @UrlVariable('http', 'https')
  ANTHROPIC_BASE_URL?: string;
}

export const anthropic: Vendor<AnthropicEnv> = {
  id: 'anthropic',
  name: 'Anthropic',
  type: 'anthropic',
  kinds: ['chat'],
  Variables: AnthropicEnv,
  baseUrl: (env) => env.ANTHROPIC_BASE_URL ?? 'https://api.anthropic.com',
  account: ({ ANTHROPIC_API_KEY: apiKey }) => (apiKey ? { apiKey } : undefined),
  accountForm: KEY_ONLY,
  createAdapter: (provider, { transport }) => new AnthropicAdapter(provider, transport),
};
