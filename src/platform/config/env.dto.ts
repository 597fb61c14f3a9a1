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
 * the bucket and telemetry have classes of their own. `docs/settings.md` is made of the descriptions: `npm run docs:settings`.
 */
export class EnvDto {
  @Describe('Port to listen on; `0` takes a free one', { default: '3000', example: '8080' })
  @IntegerVariable(0, 65_535)
  PORT?: number;

  @Describe('Address to listen on; `0.0.0.0` for all, which the image sets', {
    default: '127.0.0.1',
    example: '0.0.0.0',
  })
  @IsOptional()
  HOST?: string;

  @Describe('Base of the URLs that the service gives out', {
    without: "the port's address",
    example: 'https://gateway.example',
  })
  @UrlVariable('http', 'https')
  GATEWAY_PUBLIC_URL?: string;

  @Describe(
    'Origins of web pages whose scripts may call the service from a browser, separated by commas; `*` for all',
    { without: 'none', example: 'https://app.example, http://localhost:5173' },
  )
  @OriginsVariable()
  GATEWAY_CORS_ORIGINS?: string;

  @Describe('`off` serves no console at `/console`, and `npm start` builds none', {
    default: 'on',
    example: 'off',
  })
  @ChoiceVariable('on', 'off')
  GATEWAY_CONSOLE?: 'on' | 'off';

  @Describe('Folder of the embedded database and of what jobs make', {
    default: './data',
    example: '/var/lib/gateway',
  })
  @IsOptional()
  GATEWAY_DATA_DIR?: string;

  @Describe('PostgreSQL 15 or newer, which instances may share', {
    without: 'an embedded PostgreSQL',
    example: 'postgres://gateway:secret@db:5432/gateway',
    isSecret: true,
  })
  @UrlVariable('postgres', 'postgresql')
  DATABASE_URL?: string;

  @Describe('Rate limits, cached answers and the health of routes of all instances', {
    without: 'each process has its own limits and answers; health goes by the database',
    example: 'redis://cache:6379',
    isSecret: true,
  })
  @UrlVariable('redis', 'rediss')
  REDIS_URL?: string;

  @Describe(
    'The same on all instances; required with `DATABASE_URL`. Encrypts stored credentials and headers, signs URLs and webhooks',
    {
      without: 'made, and kept in the data folder',
      example: '0123456789abcdef0123456789abcdef',
      isSecret: true,
    },
  )
  @IsOptional()
  @MinLength(32, { message: 'must have at least 32 characters' })
  GATEWAY_SECRET?: string;

  @Describe(
    'File of the secret in its first line, with those of before below; read again when it changes',
    {
      without: 'none',
      example: '/run/secrets/gateway-secret',
    },
  )
  @FileVariable()
  GATEWAY_SECRET_FILE?: string;

  @Describe(
    'Secrets of before, separated by commas, which still open what they encrypted and check what they signed',
    {
      without: 'none',
      example: '0123456789abcdef0123456789abcdef',
      isSecret: true,
    },
  )
  @IsOptional()
  @Matches(/^\s*[^\s,]{32,}\s*(,\s*[^\s,]{32,}\s*)*$/, {
    message: 'must be secrets of at least 32 characters each, separated by commas',
  })
  GATEWAY_SECRET_PREVIOUS?: string;

  @Describe('Routing key of the tenant `default`', {
    without: 'made and printed',
    example: 'sk-0123456789abcdef',
    isSecret: true,
  })
  @KeyVariable('routing')
  GATEWAY_BOOTSTRAP_API_KEY?: string;

  @Describe('Management key of the tenant `default`', {
    without: 'made and printed',
    example: 'sk-mgmt-0123456789abcdef',
    isSecret: true,
  })
  @KeyVariable('management')
  GATEWAY_BOOTSTRAP_MANAGEMENT_KEY?: string;

  @Describe('Key of an operator, which opens `/v1/admin`; see [admin.md](admin.md)', {
    without: 'made and printed once',
    example: 'sk-admin-0123456789abcdef',
    isSecret: true,
  })
  @KeyVariable('admin')
  GATEWAY_ADMIN_KEY?: string;

  @Describe('Credits of the tenant `default`, granted once, when it is made', {
    default: '10000000',
    example: '5000000',
  })
  @IntegerVariable(0, MAX_GRANT_CREDITS)
  GATEWAY_BOOTSTRAP_CREDITS?: number;

  @Describe('Rate limit of bootstrapped keys', { default: '600', example: '6000' })
  @IntegerVariable(1, MAX_RATE_LIMIT_PER_MINUTE)
  GATEWAY_BOOTSTRAP_RATE_LIMIT_PER_MINUTE?: number;

  @Describe(
    'JSON file that declares tenants and keys: `{"tenants":[{"name","credits","keys":[{"type","key","name"?,"rate_limit_per_minute"?}]}]}`',
    { example: 'tenants.json' },
  )
  @FileVariable()
  GATEWAY_BOOTSTRAP_FILE?: string;

  @Describe('`true` lets URLs that callers give lead to private addresses', {
    default: 'false',
    example: 'true',
  })
  @ChoiceVariable('true', 'false')
  GATEWAY_ALLOW_PRIVATE_DESTINATIONS?: 'true' | 'false';

  @Describe(
    'JSON file with further providers, OpenAI-compatible unless it says otherwise; see [adding-a-provider.md](adding-a-provider.md)',
    { example: 'providers.json' },
  )
  @FileVariable()
  GATEWAY_PROVIDERS?: string;

  @Describe(
    'JSON file that is merged over the built-in model catalogue; see [catalogue.md](catalogue.md)',
    { example: 'catalogue.json' },
  )
  @FileVariable()
  GATEWAY_CATALOGUE?: string;

  @Describe(
    'What chat models cost that no row has, by rows of the same provider: `priced-as:` and their ids, with commas between them; see [catalogue.md](catalogue.md)',
    { without: 'they are refused', example: 'priced-as:openai/gpt-4o' },
  )
  @UnlistedModelsVariable()
  GATEWAY_UNLISTED_MODELS?: string;

  @Describe(
    '`off` checks no keys: neither those of the configured providers when the service starts, nor, unless asked to, those that tenants store',
    { default: 'on', example: 'off' },
  )
  @ChoiceVariable('on', 'off')
  GATEWAY_CHECK_KEYS?: 'on' | 'off';

  @Describe(
    'Address of a public price list that the catalogue is held against every week; see [prices.md](prices.md)',
    { without: 'none is fetched', example: 'https://models.dev/api.json' },
  )
  @UrlVariable('http', 'https')
  GATEWAY_PRICE_LIST?: string;

  @Describe('Whether the sandbox provider is on', {
    without: 'on while no other provider is configured',
    example: 'true',
  })
  @ChoiceVariable('true', 'false')
  GATEWAY_SANDBOX?: 'true' | 'false';

  @Describe(
    "What a request over a tenant's own vendor account costs, in percent of the price on shared capacity",
    { default: '5', example: '0', isChangeable: true },
  )
  @IntegerVariable(0, 100)
  GATEWAY_BYOK_FEE_PERCENT?: number;

  @Describe(
    'Networks whose `X-Forwarded-For` names the caller, for limits on those without a key',
    {
      without: 'none',
      example: '10.0.0.0/8, 192.168.1.1',
    },
  )
  @NetworksVariable()
  GATEWAY_TRUSTED_PROXIES?: string;

  @Describe('`after-response` lets an answer end before its charge is committed', {
    default: 'before-end',
    example: 'after-response',
  })
  @ChoiceVariable('before-end', 'after-response')
  GATEWAY_SETTLE?: 'before-end' | 'after-response';

  @Describe('`management` lets only management keys change anything under `/v1/customer`', {
    default: 'any',
    example: 'management',
  })
  @ChoiceVariable('any', 'management')
  GATEWAY_CUSTOMER_WRITES?: 'any' | 'management';

  @Describe(
    'Whether prompts and answers are kept, encrypted: `allowed` where a tenant or key asks for it, `on` unless they refuse; see [content-log.md](content-log.md)',
    { default: 'off', example: 'allowed' },
  )
  @ChoiceVariable('off', 'allowed', 'on')
  GATEWAY_CONTENT_LOG?: 'off' | 'allowed' | 'on';

  @Describe('Which lines are logged: those of this importance and above', {
    default: 'info',
    example: 'warn',
    isChangeable: true,
  })
  @WordVariable(...LOG_LEVELS)
  LOG_LEVEL?: LogLevel;

  @Describe('`off` writes no line for each finished request to the log', {
    default: 'stdout',
    example: 'off',
    isChangeable: true,
  })
  @ChoiceVariable('stdout', 'off')
  GATEWAY_REQUEST_LOG?: 'stdout' | 'off';

  @Describe('`/metrics` then asks for `Authorization: Bearer <token>`', {
    without: '`/metrics` is open',
    example: '0123456789abcdef',
    isSecret: true,
  })
  @IsOptional()
  @MinLength(16, { message: 'must have at least 16 characters' })
  GATEWAY_METRICS_TOKEN?: string;

  @Describe('`false` leaves background work to `npm run start:worker`; needs `DATABASE_URL`', {
    default: 'true',
    example: 'false',
  })
  @ChoiceVariable('true', 'false')
  GATEWAY_JOB_WORKERS?: 'true' | 'false';

  @Describe(
    'HTTP processes on this machine, `auto` for one a core; more than one needs `REDIS_URL`',
    { default: '1', example: '4' },
  )
  @WorkersVariable()
  WORKERS?: number;

  @Describe(
    'How long the service goes on taking requests after SIGTERM, while `/readyz` is 503 so that ' +
      'balancers leave it; the image sets `5`',
    { default: '0', example: '5' },
  )
  @IntegerVariable(0, 3_600)
  GATEWAY_LAME_DUCK_SECONDS?: number;

  @Describe('How long SIGTERM lets running answers go on', { default: '30', example: '60' })
  @IntegerVariable(0, 86_400)
  GATEWAY_DRAIN_SECONDS?: number;
}
