import { IsOptional } from 'class-validator';
import { UrlVariable, Describe } from '../../platform/config/variable.decorators.js';
import { KEY_ONLY, type Vendor } from '../vendor.js';
import { FishAudioAdapter } from './fish-audio.adapter.js';

class FishAudioEnv {
  @Describe(
    'The API key; configures the provider `fish-audio`. Comma-separated keys form a pool of accounts',
    {
      example: '0123456789abcdef',
      isSecret: true,
    },
  )
  @IsOptional()
  FISH_AUDIO_API_KEY?: string;

  @Describe('Address of the API: an origin without a path', {
    default: 'https://api.fish.audio',
    example: 'https://proxy.example',
  })
  @UrlVariable('http', 'https')
  FISH_AUDIO_BASE_URL?: string;
}

export const fishAudio: Vendor<FishAudioEnv> = {
  id: 'fish-audio',
  name: 'Fish Audio',
  // The interface has no type for this vendor, so it is listed under the type whose API callers use.
  type: 'openai',
  listedAs: ['fish_audio'],
  kinds: ['speech', 'transcription'],
  Variables: FishAudioEnv,
  baseUrl: (env) => env.FISH_AUDIO_BASE_URL ?? 'https://api.fish.audio',
  account: ({ FISH_AUDIO_API_KEY: apiKey }) => (apiKey ? { apiKey } : undefined),
  accountForm: KEY_ONLY,
  createAdapter: (provider, { transport }) => new FishAudioAdapter(provider, transport),
};
