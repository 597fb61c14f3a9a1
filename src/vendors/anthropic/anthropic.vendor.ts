import type { IncomingHttpHeaders } from 'node:http';
import { IsOptional } from 'class-validator';
import { UrlVariable, Describe } from '../../platform/config/variable.decorators.js';
import {
  allowanceOf,
  together,
  type AccountAllowance,
  type Allowance,
} from '../account-allowance.js';
import { KEY_ONLY, type Vendor } from '../vendor.js';
import { AnthropicAdapter } from './anthropic.adapter.js';

class AnthropicEnv {
  @Describe(
    'The API key; configures the provider `anthropic`. Comma-separated keys form a pool of accounts',
    {
      example: 'sk-ant-…',
      isSecret: true,
    },
  )
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
  readAllowance: readAnthropicAllowance,
  createAdapter: (provider, { transport }) => new AnthropicAdapter(provider, transport),
};

const PREFIX = 'anthropic-ratelimit';

/** Reads resets as timestamps. Input and output tokens have separate limits besides the total. */
function readAnthropicAllowance(
  headers: IncomingHttpHeaders,
  nowMs = Date.now(),
): AccountAllowance | undefined {
  const read = (what: string): Allowance | undefined => {
    const resetMs = Date.parse(String(headers[`${PREFIX}-${what}-reset`])) - nowMs;
    return allowanceOf(
      headers[`${PREFIX}-${what}-remaining`],
      headers[`${PREFIX}-${what}-limit`],
      Number.isNaN(resetMs) ? undefined : Math.max(0, resetMs),
    );
  };
  const output = read('output-tokens');
  const counted = [read('tokens'), read('input-tokens'), output?.left === 0 ? output : undefined];
  const [tightest] = counted
    .filter((each) => each !== undefined)
    .sort((one, other) => one.left - other.left);
  return together(read('requests'), tightest);
}
