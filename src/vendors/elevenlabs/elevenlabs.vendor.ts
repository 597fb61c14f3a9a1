import { IsOptional } from 'class-validator';
import { UrlVariable, Describe } from '../../platform/config/variable.decorators.js';
import { KEY_ONLY, type Vendor } from '../vendor.js';
import { ElevenLabsAdapter } from './elevenlabs.adapter.js';

class ElevenLabsEnv {
  @Describe(
    'The API key; configures the provider `elevenlabs`. Comma-separated keys form a pool of accounts',
    {
      example: 'sk_0123456789abcdef',
      isSecret: true,
    },
  )
  @IsOptional()
  ELEVENLABS_API_KEY?: string;

  @Describe(
    'Address of the API: an origin without a path. Data residency regions have different addresses',
    {
      default: 'https://api.elevenlabs.io',
      example: 'https://api.eu.residency.elevenlabs.io',
    },
  )
  @UrlVariable('http', 'https')
  ELEVENLABS_BASE_URL?: string;
}

export const elevenLabs: Vendor<ElevenLabsEnv> = {
  id: 'elevenlabs',
  name: 'ElevenLabs',
  // The interface has no type for this vendor, so it is listed under the type whose API callers use.
  type: 'openai',
  kinds: ['speech', 'transcription'],
  Variables: ElevenLabsEnv,
  baseUrl: (env) => env.ELEVENLABS_BASE_URL ?? 'https://api.elevenlabs.io',
  account: ({ ELEVENLABS_API_KEY: apiKey }) => (apiKey ? { apiKey } : undefined),
  accountForm: KEY_ONLY,
  createAdapter: (provider, { transport }) => new ElevenLabsAdapter(provider, transport),
};
