import { MAX_RATE_LIMIT_PER_MINUTE, MAX_TIMEOUT_MS } from './setting-values.js';
import { IntegerVariable, Describe } from './variable.decorators.js';

/** A terabyte. */
const MAX_CACHE_BYTES = 1_000_000_000_000;

const MAX_IN_FLIGHT = 1_000_000;

/** A terabyte. With the least, one tenant has room for one body of 20 MB, received and parsed. */
const MAX_BODY_BUDGET_MB = 1_000_000;

/** A petabyte. */
const MAX_STORED_MB = 1_000_000_000;

/** Thirty days. */
const MAX_JOB_SECONDS = 2_592_000;

/** A hundred years. */
const MAX_RETENTION_DAYS = 36_500;

/** How long, how many and how much: the variables that bound what the service does, takes in and keeps. */
export class LimitsEnv {
  @Describe('To connect to a vendor', { default: '5000', example: '2000' })
  @IntegerVariable(1, MAX_TIMEOUT_MS)
  GATEWAY_CONNECT_TIMEOUT_MS?: number;

  @Describe("To the vendor's first byte", {
    without: '`60000` for a streamed answer, `300000` for a whole one',
    example: '30000',
    isChangeable: true,
  })
  @IntegerVariable(1, MAX_TIMEOUT_MS)
  GATEWAY_FIRST_BYTE_TIMEOUT_MS?: number;

  @Describe('Between two pieces of an answer', {
    default: '60000',
    example: '30000',
    isChangeable: true,
  })
  @IntegerVariable(1, MAX_TIMEOUT_MS)
  GATEWAY_IDLE_TIMEOUT_MS?: number;

  @Describe('For the whole request', { default: '600000', example: '300000', isChangeable: true })
  @IntegerVariable(1, MAX_TIMEOUT_MS)
  GATEWAY_REQUEST_TIMEOUT_MS?: number;

  @Describe('How long a failing route is left alone', {
    default: '10000',
    example: '30000',
    isChangeable: true,
  })
  @IntegerVariable(0, MAX_TIMEOUT_MS)
  GATEWAY_COOLDOWN_MS?: number;

  @Describe(
    'Of the requests that ask for a second route when the first is silent (`hedge_ms`), how many of the last 1,000 in this process may get it, in percent; 0: none. See [routing.md](routing.md#a-silent-route)',
    { default: '10', example: '5', isChangeable: true },
  )
  @IntegerVariable(0, 100)
  GATEWAY_HEDGE_PERCENT?: number;

  @Describe("How long a provider's health is shown before it is probed again", {
    default: '5000',
    example: '60000',
    isChangeable: true,
  })
  @IntegerVariable(0, MAX_TIMEOUT_MS)
  GATEWAY_HEALTH_CACHE_MS?: number;

  @Describe(
    'Memory for cached answers in each process, or with `REDIS_URL` there, where it is half of `maxmemory` at most; `0` keeps nothing',
    { without: '`67108864`, with `REDIS_URL` `1073741824`', example: '134217728' },
  )
  @IntegerVariable(0, MAX_CACHE_BYTES)
  GATEWAY_CACHE_MAX_BYTES?: number;

  @Describe('Of it for one tenant', { default: '67108864', example: '10000000' })
  @IntegerVariable(0, MAX_CACHE_BYTES)
  GATEWAY_CACHE_MAX_BYTES_PER_TENANT?: number;

  @Describe(
    'Between two questions about a job at a vendor that does not say when to ask; grows to 30 s',
    { default: '2000', example: '5000', isChangeable: true },
  )
  @IntegerVariable(10, MAX_TIMEOUT_MS)
  GATEWAY_JOB_POLL_MS?: number;

  @Describe('How long a job may take; then it expires and costs nothing', {
    default: '3600',
    example: '7200',
    isChangeable: true,
  })
  @IntegerVariable(1, MAX_JOB_SECONDS)
  GATEWAY_JOB_DEADLINE_SECONDS?: number;

  @Describe('How long what a job made can be fetched', {
    default: '3600',
    example: '86400',
    isChangeable: true,
  })
  @IntegerVariable(1, MAX_JOB_SECONDS)
  GATEWAY_ARTIFACT_TTL_SECONDS?: number;

  @Describe('Jobs of one provider that a process submits at once, and as many that it asks about', {
    default: '8',
    example: '16',
  })
  @IntegerVariable(1, 1_000)
  GATEWAY_JOB_CONCURRENCY?: number;

  @Describe(
    'Jobs and background responses of one tenant that may be queued or in progress; a submission beyond is a 429',
    { default: '1000', example: '100', isChangeable: true },
  )
  @IntegerVariable(1, 1_000_000)
  GATEWAY_MAX_OPEN_JOBS_PER_TENANT?: number;

  @Describe('Requests of one key that may be under way at once', { default: '1000', example: '50' })
  @IntegerVariable(1, MAX_IN_FLIGHT)
  GATEWAY_MAX_IN_FLIGHT_PER_KEY?: number;

  @Describe('The same of one tenant', { default: '2000', example: '200' })
  @IntegerVariable(1, MAX_IN_FLIGHT)
  GATEWAY_MAX_IN_FLIGHT_PER_TENANT?: number;

  @Describe('Megabytes that all bodies under way may take together', {
    default: '512',
    example: '1024',
  })
  @IntegerVariable(100, MAX_BODY_BUDGET_MB)
  GATEWAY_BODY_BUDGET_MB?: number;

  @Describe('Megabytes that all uploads under way may take on the disk together', {
    default: '2048',
    example: '10000',
  })
  @IntegerVariable(100, MAX_BODY_BUDGET_MB)
  GATEWAY_UPLOAD_BUDGET_MB?: number;

  @Describe(
    'Requests a minute of one key that are no inference; reading jobs has ten times as many',
    {
      default: '600',
      example: '120',
    },
  )
  @IntegerVariable(1, MAX_RATE_LIMIT_PER_MINUTE)
  GATEWAY_MANAGEMENT_RATE_LIMIT_PER_MINUTE?: number;

  @Describe(
    'How long stored responses and conversations are kept after the last turn; `0` is for ever',
    { default: '30', example: '7', isChangeable: true },
  )
  @IntegerVariable(0, MAX_RETENTION_DAYS)
  GATEWAY_RESPONSE_RETENTION_DAYS?: number;

  @Describe(
    'Megabytes that traces of all tenants may take while they wait for their receivers; the oldest are given up',
    { default: '2048', example: '500' },
  )
  @IntegerVariable(1, MAX_BODY_BUDGET_MB)
  GATEWAY_BROADCAST_PENDING_MB?: number;

  @Describe(
    'Megabytes that stored responses and conversations of all tenants may take; the oldest of the tenant with the most are deleted',
    { default: '100000', example: '20000' },
  )
  @IntegerVariable(1, MAX_STORED_MB)
  GATEWAY_STORED_CONTENT_MB?: number;

  @Describe(
    'Days for which prompts and answers are kept where `GATEWAY_CONTENT_LOG` lets them be; `0` is for ever',
    { default: '30', example: '7' },
  )
  @IntegerVariable(0, MAX_RETENTION_DAYS)
  GATEWAY_CONTENT_RETENTION_DAYS?: number;

  @Describe(
    'Megabytes that kept prompts and answers of all tenants may take; the oldest days are deleted',
    { default: '10000', example: '2000' },
  )
  @IntegerVariable(1, MAX_STORED_MB)
  GATEWAY_CONTENT_LOG_MB?: number;

  @Describe('Days for which log rows and ended jobs are kept, by whole days; `0` is for ever', {
    default: '0',
    example: '90',
    isChangeable: true,
  })
  @IntegerVariable(0, MAX_RETENTION_DAYS)
  GATEWAY_LOG_RETENTION_DAYS?: number;

  @Describe(
    'Days after which whole months of the request log move to the bucket `S3_BUCKET` as Parquet, where they are read on; from `31`, `0` is never; see [scaling.md](scaling.md#an-archive-of-old-months)',
    { default: '0', example: '90' },
  )
  @IntegerVariable(0, MAX_RETENTION_DAYS)
  GATEWAY_LOG_ARCHIVE_AFTER_DAYS?: number;

  @Describe(
    'Days after which whole months of ledger entries become sums, once `GATEWAY_LOG_RETENTION_DAYS` has taken their log rows; `0` is never',
    { default: '0', example: '2555' },
  )
  @IntegerVariable(0, MAX_RETENTION_DAYS)
  GATEWAY_LEDGER_RETENTION_DAYS?: number;

  @Describe('Days for which rows of the audit log are kept; `0` is for ever', {
    default: '0',
    example: '2555',
  })
  @IntegerVariable(0, MAX_RETENTION_DAYS)
  GATEWAY_AUDIT_RETENTION_DAYS?: number;
}
