import { IsOptional, Matches, MinLength } from 'class-validator';
import { LOG_LEVELS, type LogLevel } from './app-config.js';
import { MAX_GRANT_CREDITS, MAX_RATE_LIMIT_PER_MINUTE } from './setting-values.js';
import {
  ChoiceVariable,
  FileVariable,
  IntegerVariable,
  KeyVariable,
  NetworksVariable,
  OriginsVariable,
  UrlVariable,
  WordVariable,
  WorkersVariable,
  Describe,
  UnlistedModelsVariable,
} from './variable.decorators.js';

/**
 * The environment as the service reads it, one property per variable, absent when unset; limits, vendors,
 * the bucket and telemetry have separate classes. `npm run docs:settings` generates `docs/settings.md` from the descriptions.
 */
export class EnvDto {
  @Describe('Listen port; `0` picks a free one', { default: '3000', example: '8080' })
  @IntegerVariable(0, 65_535)
  PORT?: number;

  @Describe('Listen address; `0.0.0.0` for all interfaces, which the image sets', {
    default: '127.0.0.1',
    example: '0.0.0.0',
  })
  @IsOptional()
  HOST?: string;

  @Describe('Base of the URLs the service generates', {
    without: 'the listen address',
    example: 'https://gateway.example',
  })
  @UrlVariable('http', 'https')
  GATEWAY_PUBLIC_URL?: string;

  @Describe(
    'Comma-separated origins allowed to call the service from a browser (CORS); `*` for all',
    { without: 'none', example: 'https://app.example, http://localhost:5173' },
  )
  @OriginsVariable()
  GATEWAY_CORS_ORIGINS?: string;

  @Describe('`off` disables the console at `/console` and its build in `npm start`', {
    default: 'on',
    example: 'off',
  })
  @ChoiceVariable('on', 'off')
  GATEWAY_CONSOLE?: 'on' | 'off';

  @Describe('Folder for the embedded database and job results', {
    default: './data',
    example: '/var/lib/gateway',
  })
  @IsOptional()
  GATEWAY_DATA_DIR?: string;

  @Describe('PostgreSQL 15 or newer; instances can share it', {
    without: 'an embedded PostgreSQL',
    example: 'postgres://gateway:secret@db:5432/gateway',
    isSecret: true,
  })
  @UrlVariable('postgres', 'postgresql')
  DATABASE_URL?: string;

  @Describe('Redis for rate limits, cached answers and route health shared by all instances', {
    without: 'limits and cache per process; route health through the database',
    example: 'redis://cache:6379',
    isSecret: true,
  })
  @UrlVariable('redis', 'rediss')
  REDIS_URL?: string;

  @Describe(
    'Encrypts stored credentials and headers, signs URLs and webhooks. Must be the same on all instances; required with `DATABASE_URL`',
    {
      without: 'generated, and stored in the data folder',
      example: '0123456789abcdef0123456789abcdef',
      isSecret: true,
    },
  )
  @IsOptional()
  @MinLength(32, { message: 'must have at least 32 characters' })
  GATEWAY_SECRET?: string;

  @Describe(
    'File with the secret in its first line and previous secrets below; reloaded when it changes',
    {
      without: 'none',
      example: '/run/secrets/gateway-secret',
    },
  )
  @FileVariable()
  GATEWAY_SECRET_FILE?: string;

  @Describe('Comma-separated previous secrets, still used to decrypt and to verify signatures', {
    without: 'none',
    example: '0123456789abcdef0123456789abcdef',
    isSecret: true,
  })
  @IsOptional()
  @Matches(/^\s*[^\s,]{32,}\s*(,\s*[^\s,]{32,}\s*)*$/, {
    message: 'must be secrets of at least 32 characters each, separated by commas',
  })
  GATEWAY_SECRET_PREVIOUS?: string;

  @Describe('Routing key of the tenant `default`', {
    without: 'generated and printed',
    example: 'sk-0123456789abcdef',
    isSecret: true,
  })
  @KeyVariable('routing')
  GATEWAY_BOOTSTRAP_API_KEY?: string;

  @Describe('Management key of the tenant `default`', {
    without: 'generated and printed',
    example: 'sk-mgmt-0123456789abcdef',
    isSecret: true,
  })
  @KeyVariable('management')
  GATEWAY_BOOTSTRAP_MANAGEMENT_KEY?: string;

  @Describe('Operator key for `/v1/admin`; see [admin.md](admin.md)', {
    without: 'generated and printed once',
    example: 'sk-admin-0123456789abcdef',
    isSecret: true,
  })
  @KeyVariable('admin')
  GATEWAY_ADMIN_KEY?: string;

  @Describe('Credits granted to the tenant `default` once, when it is created', {
    default: '10000000',
    example: '5000000',
  })
  @IntegerVariable(0, MAX_GRANT_CREDITS)
  GATEWAY_BOOTSTRAP_CREDITS?: number;

  @Describe('Rate limit of bootstrapped keys, in requests per minute', {
    default: '600',
    example: '6000',
  })
  @IntegerVariable(1, MAX_RATE_LIMIT_PER_MINUTE)
  GATEWAY_BOOTSTRAP_RATE_LIMIT_PER_MINUTE?: number;

  @Describe(
    'JSON file that declares tenants and keys: `{"tenants":[{"name","credits","keys":[{"type","key","name"?,"rate_limit_per_minute"?}]}]}`',
    { example: 'tenants.json' },
  )
  @FileVariable()
  GATEWAY_BOOTSTRAP_FILE?: string;

  @Describe('`true` allows caller-supplied URLs to resolve to private addresses', {
    default: 'false',
    example: 'true',
  })
  @ChoiceVariable('true', 'false')
  GATEWAY_ALLOW_PRIVATE_DESTINATIONS?: 'true' | 'false';

  @Describe(
    'JSON file with additional providers, OpenAI-compatible by default; see [adding-a-provider.md](adding-a-provider.md)',
    { example: 'providers.json' },
  )
  @FileVariable()
  GATEWAY_PROVIDERS?: string;

  @Describe(
    'JSON file merged over the built-in model catalogue; see [catalogue.md](catalogue.md)',
    { example: 'catalogue.json' },
  )
  @FileVariable()
  GATEWAY_CATALOGUE?: string;

  @Describe(
    'Prices unlisted chat models like a row of the same provider: `priced-as:` and comma-separated row ids; see [catalogue.md](catalogue.md)',
    { without: 'unlisted models are refused', example: 'priced-as:openai/gpt-4o' },
  )
  @UnlistedModelsVariable()
  GATEWAY_UNLISTED_MODELS?: string;

  @Describe(
    '`off` disables the check of provider keys at startup and of BYOK keys when they are stored (unless requested)',
    { default: 'on', example: 'off' },
  )
  @ChoiceVariable('on', 'off')
  GATEWAY_CHECK_KEYS?: 'on' | 'off';

  @Describe(
    'URL of a public price list compared with the catalogue every week; see [prices.md](prices.md)',
    { without: 'no list is fetched', example: 'https://models.dev/api.json' },
  )
  @UrlVariable('http', 'https')
  GATEWAY_PRICE_LIST?: string;

  @Describe('Whether the sandbox provider is enabled', {
    without: 'enabled if no other provider is configured',
    example: 'true',
  })
  @ChoiceVariable('true', 'false')
  GATEWAY_SANDBOX?: 'true' | 'false';

  @Describe('Fee for a request over a BYOK account, in percent of the price on shared capacity', {
    default: '5',
    example: '0',
    isChangeable: true,
  })
  @IntegerVariable(0, 100)
  GATEWAY_BYOK_FEE_PERCENT?: number;

  @Describe('Networks whose `X-Forwarded-For` is trusted, for limits on unauthenticated callers', {
    without: 'none',
    example: '10.0.0.0/8, 192.168.1.1',
  })
  @NetworksVariable()
  GATEWAY_TRUSTED_PROXIES?: string;

  @Describe('`after-response` ends an answer before its charge is committed', {
    default: 'before-end',
    example: 'after-response',
  })
  @ChoiceVariable('before-end', 'after-response')
  GATEWAY_SETTLE?: 'before-end' | 'after-response';

  @Describe('`management` requires a management key for all changes under `/v1/customer`', {
    default: 'any',
    example: 'management',
  })
  @ChoiceVariable('any', 'management')
  GATEWAY_CUSTOMER_WRITES?: 'any' | 'management';

  @Describe(
    'Whether prompts and answers are stored, encrypted: `allowed` if a tenant or key opts in, `on` unless they opt out; see [content-log.md](content-log.md)',
    { default: 'off', example: 'allowed' },
  )
  @ChoiceVariable('off', 'allowed', 'on')
  GATEWAY_CONTENT_LOG?: 'off' | 'allowed' | 'on';

  @Describe('Minimum log level', {
    default: 'info',
    example: 'warn',
    isChangeable: true,
  })
  @WordVariable(...LOG_LEVELS)
  LOG_LEVEL?: LogLevel;

  @Describe('`off` disables the access log (one line per finished request)', {
    default: 'stdout',
    example: 'off',
    isChangeable: true,
  })
  @ChoiceVariable('stdout', 'off')
  GATEWAY_REQUEST_LOG?: 'stdout' | 'off';

  @Describe('Requires `Authorization: Bearer <token>` for `/metrics`', {
    without: '`/metrics` is open',
    example: '0123456789abcdef',
    isSecret: true,
  })
  @IsOptional()
  @MinLength(16, { message: 'must have at least 16 characters' })
  GATEWAY_METRICS_TOKEN?: string;

  @Describe('`false` leaves background work to `npm run start:worker`; requires `DATABASE_URL`', {
    default: 'true',
    example: 'false',
  })
  @ChoiceVariable('true', 'false')
  GATEWAY_JOB_WORKERS?: 'true' | 'false';

  @Describe(
    'Number of HTTP processes on this machine, `auto` for one per core; more than one requires `REDIS_URL`',
    { default: '1', example: '4' },
  )
  @WorkersVariable()
  WORKERS?: number;

  @Describe(
    'Seconds to keep serving after SIGTERM while `/readyz` answers 503, so that load balancers ' +
      'remove the instance; the image sets `5`',
    { default: '0', example: '5' },
  )
  @IntegerVariable(0, 3_600)
  GATEWAY_LAME_DUCK_SECONDS?: number;

  @Describe('Seconds running answers may continue after SIGTERM', { default: '30', example: '60' })
  @IntegerVariable(0, 86_400)
  GATEWAY_DRAIN_SECONDS?: number;
}
