import { IsOptional } from 'class-validator';
import { UrlVariable, Describe } from '../../platform/config/variable.decorators.js';
import { KEY_ONLY, type Vendor } from '../vendor.js';
import { GoogleAdapter } from './google.adapter.js';

class GoogleEnv {
  @Describe('The API key of Google AI Studio; configures the provider `google`', {
    example: 'AIzaSy0123456789',
    isSecret: true,
  })
  @IsOptional()
  GEMINI_API_KEY?: string;

  @Describe('Base URL that ends with the API version', {
    default: 'https://generativelanguage.googleapis.com/v1beta',
    example: 'https://proxy.example/v1beta',
  })
  @UrlVariable('http', 'https')
  GEMINI_BASE_URL?: string;
}

export const google: Vendor<GoogleEnv> = {
  id: 'google',
  name: 'Google AI Studio',
  type: 'gcp',
  listedAs: ['gemini', 'google'],
  kinds: ['chat', 'embedding'],
  telemetryName: 'gcp.gemini',
  Variables: GoogleEnv,
  baseUrl: (env) => env.GEMINI_BASE_URL ?? 'https://generativelanguage.googleapis.com/v1beta',
  account: ({ GEMINI_API_KEY: apiKey }) => (apiKey ? { apiKey } : undefined),
  accountForm: KEY_ONLY,
  createAdapter: (provider, { transport }) => new GoogleAdapter(provider, transport),
};
