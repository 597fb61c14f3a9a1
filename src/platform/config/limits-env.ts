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

/** Variables that limit times, counts and sizes. */
export class LimitsEnv {
  @Describe('Time to connect to a vendor', { default: '5000', example: '2000' })
  @IntegerVariable(1, MAX_TIMEOUT_MS)
  GATEWAY_CONNECT_TIMEOUT_MS?: number;

  @Describe("Time to the vendor's first byte", {
    without: '`60000` for a streamed answer, `300000` for a non-streaming one',
    example: '30000',
    isChangeable: true,
  })
  @IntegerVariable(1, MAX_TIMEOUT_MS)
  GATEWAY_FIRST_BYTE_TIMEOUT_MS?: number;

  @Describe('Time between two chunks of an answer', {
    default: '60000',
    example: '30000',
    isChangeable: true,
  })
  @IntegerVariable(1, MAX_TIMEOUT_MS)
  GATEWAY_IDLE_TIMEOUT_MS?: number;

  @Describe('Time for the whole request', {
    default: '600000',
    example: '300000',
    isChangeable: true,
  })
  @IntegerVariable(1, MAX_TIMEOUT_MS)
  GATEWAY_REQUEST_TIMEOUT_MS?: number;

  @Describe('Cooldown of a failing route', {
    default: '10000',
    example: '30000',
    isChangeable: true,
  })
  @IntegerVariable(0, MAX_TIMEOUT_MS)
  GATEWAY_COOLDOWN_MS?: number;

  @Describe(
    'Maximum share of requests with `hedge_ms` that are hedged, in percent of the last 1,000 in this process; `0` disables hedging. See [routing.md](routing.md#hedging)',
    { default: '10', example: '5', isChangeable: true },
  )
  @IntegerVariable(0, 100)
  GATEWAY_HEDGE_PERCENT?: number;

  @Describe("How long a provider's health check is cached", {
    default: '5000',
    example: '60000',
    isChangeable: true,
  })
  @IntegerVariable(0, MAX_TIMEOUT_MS)
  GATEWAY_HEALTH_CACHE_MS?: number;

  @Describe(
    'Cache size per process, or in Redis with `REDIS_URL` (at most half of its `maxmemory`); `0` disables the cache',
    { without: '`67108864`, with `REDIS_URL` `1073741824`', example: '134217728' },
  )
  @IntegerVariable(0, MAX_CACHE_BYTES)
  GATEWAY_CACHE_MAX_BYTES?: number;

  @Describe('Cache size per tenant', { default: '67108864', example: '10000000' })
  @IntegerVariable(0, MAX_CACHE_BYTES)
  GATEWAY_CACHE_MAX_BYTES_PER_TENANT?: number;

  @Describe('Initial poll interval of jobs, if the vendor suggests none; grows to 30 s', {
    default: '2000',
    example: '5000',
    isChangeable: true,
  })
  @IntegerVariable(10, MAX_TIMEOUT_MS)
  GATEWAY_JOB_POLL_MS?: number;

  @Describe('Time limit of a job; after it, the job expires at no cost', {
    default: '3600',
    example: '7200',
    isChangeable: true,
  })
  @IntegerVariable(1, MAX_JOB_SECONDS)
  GATEWAY_JOB_DEADLINE_SECONDS?: number;

  @Describe('How long job results can be fetched', {
    default: '3600',
    example: '86400',
    isChangeable: true,
  })
  @IntegerVariable(1, MAX_JOB_SECONDS)
  GATEWAY_ARTIFACT_TTL_SECONDS?: number;

  @Describe('Concurrent submissions, and concurrent polls, per provider and process', {
    default: '8',
    example: '16',
  })
  @IntegerVariable(1, 1_000)
  GATEWAY_JOB_CONCURRENCY?: number;

  @Describe(
    'Maximum jobs and background responses of a tenant queued or in progress; more are refused with 429',
    { default: '1000', example: '100', isChangeable: true },
  )
  @IntegerVariable(1, 1_000_000)
  GATEWAY_MAX_OPEN_JOBS_PER_TENANT?: number;

  @Describe('Concurrent requests per key', { default: '1000', example: '50' })
  @IntegerVariable(1, MAX_IN_FLIGHT)
  GATEWAY_MAX_IN_FLIGHT_PER_KEY?: number;

  @Describe('Concurrent requests per tenant', { default: '2000', example: '200' })
  @IntegerVariable(1, MAX_IN_FLIGHT)
  GATEWAY_MAX_IN_FLIGHT_PER_TENANT?: number;

  @Describe('Memory for all request bodies in flight, in MB', {
    default: '512',
    example: '1024',
  })
  @IntegerVariable(100, MAX_BODY_BUDGET_MB)
  GATEWAY_BODY_BUDGET_MB?: number;

  @Describe('Disk space for all uploads in flight, in MB', {
    default: '2048',
    example: '10000',
  })
  @IntegerVariable(100, MAX_BODY_BUDGET_MB)
  GATEWAY_UPLOAD_BUDGET_MB?: number;

  @Describe(
    'Management requests per minute and key (everything but inference); job reads have ten times as many',
    {
      default: '600',
      example: '120',
    },
  )
  @IntegerVariable(1, MAX_RATE_LIMIT_PER_MINUTE)
  GATEWAY_MANAGEMENT_RATE_LIMIT_PER_MINUTE?: number;

  @Describe(
    'Days stored responses and conversations are kept after the last turn; `0` is forever',
    { default: '30', example: '7', isChangeable: true },
  )
  @IntegerVariable(0, MAX_RETENTION_DAYS)
  GATEWAY_RESPONSE_RETENTION_DAYS?: number;

  @Describe('Storage for undelivered traces of all tenants, in MB; the oldest are dropped', {
    default: '2048',
    example: '500',
  })
  @IntegerVariable(1, MAX_BODY_BUDGET_MB)
  GATEWAY_BROADCAST_PENDING_MB?: number;

  @Describe(
    'Storage for responses and conversations of all tenants, in MB; beyond it, the oldest of the largest tenant are deleted',
    { default: '100000', example: '20000' },
  )
  @IntegerVariable(1, MAX_STORED_MB)
  GATEWAY_STORED_CONTENT_MB?: number;

  @Describe('Days the content log is kept; `0` is forever', { default: '30', example: '7' })
  @IntegerVariable(0, MAX_RETENTION_DAYS)
  GATEWAY_CONTENT_RETENTION_DAYS?: number;

  @Describe(
    'Storage for the content log of all tenants, in MB; beyond it, the oldest days are deleted',
    { default: '10000', example: '2000' },
  )
  @IntegerVariable(1, MAX_STORED_MB)
  GATEWAY_CONTENT_LOG_MB?: number;

  @Describe('Days log rows and ended jobs are kept; `0` is forever', {
    default: '0',
    example: '90',
    isChangeable: true,
  })
  @IntegerVariable(0, MAX_RETENTION_DAYS)
  GATEWAY_LOG_RETENTION_DAYS?: number;

  @Describe(
    'Days after which whole months of the request log move to `S3_BUCKET` as Parquet, still readable; at least `31`, `0` is never; see [scaling.md](scaling.md#archiving-old-months)',
    { default: '0', example: '90' },
  )
  @IntegerVariable(0, MAX_RETENTION_DAYS)
  GATEWAY_LOG_ARCHIVE_AFTER_DAYS?: number;

  @Describe(
    'Days after which whole months of ledger entries are replaced by totals, once `GATEWAY_LOG_RETENTION_DAYS` has removed their log rows; `0` is never',
    { default: '0', example: '2555' },
  )
  @IntegerVariable(0, MAX_RETENTION_DAYS)
  GATEWAY_LEDGER_RETENTION_DAYS?: number;

  @Describe('Days audit log rows are kept; `0` is forever', {
    default: '0',
    example: '2555',
  })
  @IntegerVariable(0, MAX_RETENTION_DAYS)
  GATEWAY_AUDIT_RETENTION_DAYS?: number;
}
