import { IsOptional } from 'class-validator';
import { UrlVariable, Describe } from '../../platform/config/variable.decorators.js';
import { KEY_ONLY, type Vendor } from '../vendor.js';
import { DeepgramAdapter } from './deepgram.adapter.js';

class DeepgramEnv {
  @Describe(
    'The API key; configures the provider `deepgram`. Comma-separated keys form a pool of accounts',
    {
      example: '0123456789abcdef',
      isSecret: true,
    },
  )
  @IsOptional()
  DEEPGRAM_API_KEY?: string;

  @Describe('Address of the API: an origin without a path. Regions have different addresses', {
    default: 'https://api.deepgram.com',
    example: 'https://api.eu.deepgram.com',
  })
  @UrlVariable('http', 'https')
  DEEPGRAM_BASE_URL?: string;
}

export const deepgram: Vendor<DeepgramEnv> = {
  id: 'deepgram',
  name: 'Deepgram',
  // The interface has no type for this vendor, so it is listed under the type whose API callers use.
  type: 'openai',
  kinds: ['speech', 'transcription'],
  Variables: DeepgramEnv,
  baseUrl: (env) => env.DEEPGRAM_BASE_URL ?? 'https://api.deepgram.com',
  account: ({ DEEPGRAM_API_KEY: apiKey }) => (apiKey ? { apiKey } : undefined),
  accountForm: KEY_ONLY,
  createAdapter: (provider, { transport }) => new DeepgramAdapter(provider, transport),
};
