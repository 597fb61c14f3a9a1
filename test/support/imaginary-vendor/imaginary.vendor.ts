import { IsOptional } from 'class-validator';
import { UrlVariable, Describe } from '../../../src/platform/config/variable.decorators.js';
import { KEY_ONLY, type Vendor } from '../../../src/vendors/vendor.js';
import { ImaginaryAdapter } from './imaginary.adapter.js';

class ImaginaryEnv {
  @Describe('The password; configures the provider `imaginary`', { example: 'open-sesame' })
  @IsOptional()
  IMAGINARY_KEY?: string;

  @Describe('Its origin, without a path', {
    default: 'https://api.imaginary.example',
    example: 'https://proxy.example',
  })
  @UrlVariable('http', 'https')
  IMAGINARY_BASE_URL?: string;

  @Describe('The district that it serves', { default: 'south', example: 'north' })
  @IsOptional()
  IMAGINARY_DISTRICT?: string;
}

/** Everything the gateway needs to know about this vendor. */
export const imaginary: Vendor<ImaginaryEnv> = {
  id: 'imaginary',
  name: 'An imaginary vendor',
  type: 'openai',
  kinds: ['chat'],
  Variables: ImaginaryEnv,
  baseUrl: (env) => env.IMAGINARY_BASE_URL ?? 'https://api.imaginary.example',
  account: ({ IMAGINARY_KEY: apiKey, IMAGINARY_DISTRICT: district = 'south' }) =>
    apiKey ? { apiKey, settings: { district } } : undefined,
  accountForm: KEY_ONLY,
  createAdapter: (provider, { transport }) => new ImaginaryAdapter(provider, transport),
};
