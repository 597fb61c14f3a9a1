import { describe, expect, it } from '@jest/globals';
import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import { ConfigError } from '../platform/config/config-error.js';
import { loadSettings } from './load-settings.js';

const SECRET = 'a-secret-of-at-least-32-characters';

describe(loadSettings.name, () => {
  it('requires no setting', () => {
    expect(loadSettings({})).toEqual({
      http: {
        port: 3000,
        host: '127.0.0.1',
        publicUrl: undefined,
        corsOrigins: [],
        hasConsole: true,
      },
      dataDirectory: resolve('data'),
      databaseUrl: undefined,
      redisUrl: undefined,
      s3: undefined,
      secret: undefined,
      secretFile: undefined,
      previousSecrets: [],
      bootstrap: {
        apiKey: undefined,
        managementKey: undefined,
        credits: 10_000_000,
        rateLimitPerMinute: 600,
        file: undefined,
      },
      customerWrites: 'any',
      people: { sessionIdleMs: 28_800_000, sessionMs: 604_800_000, oidc: undefined },
      providers: [
        {
          id: 'sandbox',
          name: 'Sandbox',
          adapter: 'sandbox',
          isDeclared: true,
          type: 'openai',
          baseUrl: '',
          apiKey: undefined,
          settings: {},
        },
      ],
      ownAccountProviders: expect.any(Array),
      byokFeePercent: 5,
      catalogueFile: undefined,
      checksKeys: true,
      unlistedModels: [],
      priceList: undefined,
      limits: {
        connectTimeoutMs: 5_000,
        firstByteTimeoutMs: undefined,
        idleTimeoutMs: 60_000,
        requestTimeoutMs: 600_000,
        cooldownMs: 10_000,
      },
      admission: {
        maxInFlightPerKey: 1_000,
        maxInFlightPerTenant: 2_000,
        bodyBudgetBytes: 512_000_000,
        uploadBudgetBytes: 2_048_000_000,
        managementPerMinute: 600,
        trustedProxies: [],
      },
      healthCacheMs: 5_000,
      hedgePercent: 10,
      cache: { maxBytes: 67_108_864, maxBytesPerTenant: 67_108_864 },
      jobs: {
        pollMs: 2_000,
        deadlineSeconds: 3_600,
        artifactTtlSeconds: 3_600,
        concurrency: 8,
        maxOpenPerTenant: 1_000,
      },
      allowPrivateDestinations: false,
      settle: 'before-end',
      log: { level: 'info', requests: true },
      metricsToken: undefined,
      queue: { consume: true },
      workers: 1,
      lameDuckSeconds: 0,
      drainSeconds: 30,
      pendingTracesMaxBytes: 2_048_000_000,
      storedContentMaxBytes: 100_000_000_000,
      responseRetentionDays: 30,
      logRetentionDays: 0,
      logArchiveAfterDays: 0,
      ledgerRetentionDays: 0,
      auditRetentionDays: 0,
      contentLog: 'off',
      contentRetentionDays: 30,
      contentMaxBytes: 10_000_000_000,
      declared: { settings: {}, providers: [], environment: {} },
    });
  });

  it.each([
    ['PORT', '65536'],
    ['PORT', '-1'],
    ['PORT', '80.5'],
    ['PORT', '0x50'],
    ['PORT', ' 80'],
    ['PORT', 'http'],
    ['GATEWAY_PUBLIC_URL', 'gateway.example'],
    ['GATEWAY_PUBLIC_URL', 'ftp://gateway.example'],
    ['GATEWAY_CORS_ORIGINS', 'pages.example'],
    ['GATEWAY_CORS_ORIGINS', 'https://app.example/'],
    ['GATEWAY_CORS_ORIGINS', 'https://*.example'],
    ['GATEWAY_CORS_ORIGINS', '*, https://app.example'],
    ['DATABASE_URL', 'mysql://db/gateway'],
    ['DATABASE_URL', 'db:5432'],
    ['DATABASE_URL', 'postgres://bad host/gateway'],
    ['REDIS_URL', 'localhost:6379'],
    ['GATEWAY_JOB_WORKERS', 'no'],
    ['REDIS_URL', 'http://localhost:6379'],
    ['GATEWAY_SECRET', 'thirty-one-characters-are-short'],
    ['GATEWAY_SECRET_FILE', '/not/there'],
    ['GATEWAY_SECRET_PREVIOUS', `${SECRET},thirty-one-characters-are-short`],
    ['GATEWAY_SECRET_PREVIOUS', `${SECRET},`],
    ['GATEWAY_BOOTSTRAP_API_KEY', 'sk-fifteen-char'],
    ['GATEWAY_BOOTSTRAP_API_KEY', 'pk-with-another-prefix'],
    ['GATEWAY_BOOTSTRAP_API_KEY', 'sk-mgmt-is-a-management-key'],
    ['GATEWAY_BOOTSTRAP_API_KEY', 'sk-with-a-space-at-its-end '],
    ['GATEWAY_BOOTSTRAP_API_KEY', 'sk-with-a-letter-no-header-takes-ü'],
    ['GATEWAY_BOOTSTRAP_MANAGEMENT_KEY', 'sk-is-a-routing-key'],
    ['GATEWAY_BOOTSTRAP_MANAGEMENT_KEY', 'sk-mgmt-15chars'],
    ['GATEWAY_BOOTSTRAP_CREDITS', '-1'],
    ['GATEWAY_BOOTSTRAP_CREDITS', '1e6'],
    ['GATEWAY_BOOTSTRAP_CREDITS', '1000000000000001'],
    ['GATEWAY_BOOTSTRAP_RATE_LIMIT_PER_MINUTE', '0'],
    ['GATEWAY_BOOTSTRAP_RATE_LIMIT_PER_MINUTE', '1000001'],
    ['GATEWAY_BOOTSTRAP_FILE', '/no/such/file'],
    ['OPENAI_BASE_URL', 'api.openai.com/v1'],
    ['GATEWAY_PROVIDERS', '/no/such/file'],
    ['GATEWAY_CATALOGUE', '/no/such/file'],
    ['GATEWAY_SANDBOX', 'yes'],
    ['GATEWAY_CONNECT_TIMEOUT_MS', '0'],
    ['GATEWAY_FIRST_BYTE_TIMEOUT_MS', '5s'],
    ['GATEWAY_IDLE_TIMEOUT_MS', '2147483648'],
    ['GATEWAY_REQUEST_TIMEOUT_MS', '-5'],
    ['GATEWAY_COOLDOWN_MS', 'none'],
    ['GATEWAY_HEALTH_CACHE_MS', '-1'],
    ['GATEWAY_CACHE_MAX_BYTES', '64MB'],
    ['GATEWAY_CACHE_MAX_BYTES_PER_TENANT', '-1'],
    ['GATEWAY_MAX_IN_FLIGHT_PER_KEY', '0'],
    ['GATEWAY_MAX_IN_FLIGHT_PER_TENANT', '1000001'],
    ['GATEWAY_BODY_BUDGET_MB', '99'],
    ['GATEWAY_UPLOAD_BUDGET_MB', '99'],
    ['GATEWAY_MANAGEMENT_RATE_LIMIT_PER_MINUTE', '0'],
    ['GATEWAY_TRUSTED_PROXIES', '10.0.0.0/33'],
    ['GATEWAY_TRUSTED_PROXIES', 'proxy.example'],
    ['GATEWAY_SETTLE', 'never'],
    ['LOG_LEVEL', 'verbose'],
    ['GATEWAY_REQUEST_LOG', 'file'],
    ['GATEWAY_CUSTOMER_WRITES', 'routing'],
    ['GATEWAY_DRAIN_SECONDS', '1.5'],
    ['GATEWAY_RESPONSE_RETENTION_DAYS', '-1'],
    ['GATEWAY_LOG_RETENTION_DAYS', '1.5'],
    ['GATEWAY_BROADCAST_PENDING_MB', '0'],
    ['GATEWAY_STORED_CONTENT_MB', '1e3'],
    ['GATEWAY_LEDGER_RETENTION_DAYS', '-1'],
    ['GATEWAY_LOG_ARCHIVE_AFTER_DAYS', '-1'],
  ])('rejects %s=%s in one line that names the variable without its value', (variable, value) => {
    const secret = variable === 'GATEWAY_SECRET_FILE' ? {} : { GATEWAY_SECRET: SECRET };
    const problems = problemsOf({ ...secret, [variable]: value });
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatch(new RegExp(`^${variable} must `));
    if (value.length > 4) expect(problems[0]).not.toContain(value);
  });

  it('reports all invalid variables at once', () => {
    const problems = problemsOf({ PORT: 'x', GATEWAY_SANDBOX: 'x', GATEWAY_SETTLE: 'x' });
    expect(problems.map((line) => line.split(' ')[0])).toEqual([
      'PORT',
      'GATEWAY_SANDBOX',
      'GATEWAY_SETTLE',
    ]);
  });

  it.each([
    [{ S3_BUCKET: '' }, /^S3_BUCKET must be set/],
    [{ GATEWAY_LOG_ARCHIVE_AFTER_DAYS: '30' }, /must be 0 or at least 31$/],
    [{ GATEWAY_LOG_RETENTION_DAYS: '40' }, /must be less than GATEWAY_LOG_RETENTION_DAYS$/],
    [{ GATEWAY_ARTIFACT_TTL_SECONDS: '2592000', GATEWAY_JOB_DEADLINE_SECONDS: '864000' }, /JOB_D/],
  ])('rejects inconsistent archive settings: %j', (bad, problem) => {
    const archive = { S3_BUCKET: 'logs', GATEWAY_LOG_ARCHIVE_AFTER_DAYS: '40' };
    const good = { GATEWAY_SECRET: SECRET, ...archive, GATEWAY_LOG_RETENTION_DAYS: '41' };
    expect(loadSettings(good).logArchiveAfterDays).toBe(40);
    expect(problemsOf({ ...good, ...bad })).toEqual([expect.stringMatching(problem)]);
  });

  it('requires an explicit secret for a database that others may share', () => {
    expect(problemsOf({ DATABASE_URL: 'postgres://db/gateway' })).toEqual([
      'GATEWAY_SECRET or GATEWAY_SECRET_FILE must be set when DATABASE_URL is',
    ]);
  });

  it('requires a shared database when workers run separately', () => {
    expect(problemsOf({ GATEWAY_JOB_WORKERS: 'false' })).toEqual([
      'DATABASE_URL must be set when GATEWAY_JOB_WORKERS is false',
    ]);
  });

  it('requires an issuer with a secure URL, and the settings that depend on it', () => {
    const oidc = {
      GATEWAY_OIDC_ISSUER: 'https://login.example',
      GATEWAY_OIDC_CLIENT_ID: 'gateway',
    };
    expect(loadSettings(oidc).people.oidc).toMatchObject({
      scopes: 'openid email profile',
      roles: [],
    });
    for (const [name, value] of [
      ['GATEWAY_OIDC_ISSUER', 'http://login.example'],
      ['GATEWAY_OIDC_ISSUER', 'login.example'],
      ['GATEWAY_OIDC_SCOPES', 'email'],
      ['GATEWAY_OIDC_EMAIL_DOMAINS', 'acme'],
      ['GATEWAY_OIDC_ROLES', 'admins=owner'],
      ['GATEWAY_OIDC_ROLES', 'admins=acme:admin'],
      ['GATEWAY_OIDC_ROLES', 'admins'],
      ['GATEWAY_SESSION_IDLE_MINUTES', '0'],
    ] as const) {
      expect(problemsOf({ ...oidc, [name]: value })).toEqual([
        expect.stringContaining(`${name} must`),
      ]);
    }
    expect(problemsOf({ GATEWAY_OIDC_ISSUER: 'https://login.example' })).toEqual([
      'GATEWAY_OIDC_CLIENT_ID must be set when GATEWAY_OIDC_ISSUER is',
    ]);
    expect(problemsOf({ GATEWAY_OIDC_ROLES: 'a=admin' })).toEqual([
      'GATEWAY_OIDC_ISSUER must be set when GATEWAY_OIDC_ROLES is',
    ]);
  });

  it('runs one process per core with WORKERS=auto', () => {
    const { workers } = loadSettings({ WORKERS: 'auto', REDIS_URL: 'redis://cache:6379' });
    expect(workers).toBe(availableParallelism());
  });

  it('treats an empty variable as unset', () => {
    expect(loadSettings({ PORT: '', DATABASE_URL: '', OPENAI_API_KEY: '' })).toEqual(
      loadSettings({}),
    );
  });

  it.each([
    [{ OPENAI_API_KEY: 'key' }, ['openai']],
    [{ OPENAI_API_KEY: 'key', GATEWAY_SANDBOX: 'true' }, ['openai', 'sandbox']],
    [{ GATEWAY_SANDBOX: 'false' }, []],
    [{ OPENAI_BASE_URL: 'http://local/v1' }, ['sandbox']],
  ])('configures with %j the providers %j', (environment, ids) => {
    expect(loadSettings(environment).providers.map(({ id }) => id)).toEqual(ids);
  });

  it('returns immutable settings', () => {
    const config = loadSettings({});
    expect(Object.isFrozen(config)).toBe(true);
    expect(Object.isFrozen(config.limits)).toBe(true);
    expect(Object.isFrozen(config.providers[0])).toBe(true);
  });
});

function problemsOf(environment: NodeJS.ProcessEnv): readonly string[] {
  try {
    loadSettings(environment);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}
