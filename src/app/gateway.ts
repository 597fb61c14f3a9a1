import type { Server, IncomingMessage, ServerResponse } from 'node:http';
import { NestFactory } from '@nestjs/core';
import type { INestApplication, LoggerService } from '@nestjs/common';
import { AppModule } from './app.module.js';
import { setUpApplication } from './app.setup.js';
import { BootstrapService, type BootstrapOutcome } from './bootstrap/bootstrap.service.js';
import { describeStartChecks } from './bootstrap/describe-checks.js';
import { CatalogueService } from '../core/catalogue/catalogue.service.js';
import { ConfigurationService } from '../core/configuration/configuration.service.js';
import { ProviderChecks } from '../core/configuration/provider-checks.service.js';
import type { AppConfig } from '../platform/config/app-config.js';
import { ConfigError } from '../platform/config/config-error.js';
import { LiveSettings } from '../platform/config/live-settings.js';
import { migrateDatabase } from '../platform/database/migrate-database.js';
import { openDatabase } from '../platform/database/open-database.js';
import { JsonLogger } from '../platform/logging/json-logger.js';
import { baseUrlOf } from '../platform/http/base-url.js';
import { LeanExpressAdapter } from '../platform/http/lean-express.adapter.js';
import { HoldSweeperService } from '../core/ledger/hold-sweeper.service.js';
import { LedgerStore } from '../core/ledger/ledger-store.js';
import { SettlementRecovery } from '../core/ledger/settlement-recovery.service.js';
import { ServiceStop } from '../platform/time/service-stop.js';
import { GatewayMetrics } from '../platform/metrics/gateway-metrics.js';
import { MIGRATIONS } from '../platform/database/migrations.js';
import { gatewaySecrets } from '../platform/config/gateway-secret.js';
import { assertOwnSecret } from './stored-secrets.js';
import { InstanceFit } from './operations/instance-fit.service.js';
import { compileSchemas } from '../platform/http/validate-body.js';
import { PROBES, recordRefusals } from './access-log.middleware.js';
import { ServiceDrain } from './service-drain.js';
import { endsWithin } from '../platform/time/within.js';
import { UpstreamRegistry } from '../vendors/upstream.registry.js';
import { NotFoundError } from '../platform/errors/gateway-errors.js';
import { refuseRequest, type RecordRefusal } from '../platform/http/refuse-request.js';
import { codeOf } from '../platform/errors/thrown.js';

/**
 * How long the parts of a stopping service may take to close after its drain. Connections to a
 * database that has stopped responding never close. An embedded database gets the rest of the
 * 10 seconds.
 */
const CLOSE_LIMIT_MS = 4_000;
/** The same after a failed start. */
const FAILED_START_LIMIT_MS = 5_000;

/** A running service. */
export interface Gateway {
  application: INestApplication;
  /** Base URL, e.g. `http://127.0.0.1:3000`. */
  url: string;
  /** The address it listens on. */
  host: string;
  bootstrap: BootstrapOutcome;
  /** Differences from the other instances on its database, one sentence each. */
  warnings: readonly string[];
  /** Ids of the configured providers. */
  providers: readonly string[];
  /** A chat model to try first. */
  exampleModel: string | undefined;
  /** True when it serves `/console`. */
  hasConsole: boolean;
  /** Does deferred work that pays off in a long-running process. Call once. */
  settleIn(): Promise<void>;
  /**
   * Checks the keys of the configured providers in the background, now and whenever others are
   * configured, unless checks are turned off.
   *
   * @param print receives the lines of each result
   */
  checkKeys(print: (lines: string) => void): void;
  /**
   * Keeps serving for the lame duck period, lets running requests end (up to the drain limit),
   * settles what is open, and stops everything. Journals what cannot be settled.
   *
   * @throws Error when something could not be closed or settled
   */
  close(): Promise<void>;
  /** Ends the lame duck period of a closing service. @returns false when it is over already */
  hurry(): boolean;
}

/** Workers leave the first tenant to the gateways. */
const NO_BOOTSTRAP: BootstrapOutcome = { kind: 'earlier', created: undefined };

interface StartOptions {
  /** A worker does only background work: no first tenant, and no HTTP except operations. */
  readonly role: 'gateway' | 'worker';
}

/** Starts the whole service: database, migrations, first tenant, HTTP. */
export async function startGateway(
  config: AppConfig,
  logger: LoggerService,
  { role }: StartOptions = { role: 'gateway' },
): Promise<Gateway> {
  const database = await openDatabase(config, (line) => void logger.warn(line, 'database'));
  let started: INestApplication | undefined;
  try {
    await migrateDatabase(database.url, MIGRATIONS, (session) =>
      assertOwnSecret(session, () => gatewaySecrets(config)),
    );
    const settings = new LiveSettings(config);
    const application = await NestFactory.create<INestApplication<Server>>(
      AppModule.forRoot(settings, database.url),
      new LeanExpressAdapter(),
      { bodyParser: false, logger, abortOnError: false },
    );
    started = application;
    const requestLog = logger instanceof JsonLogger ? logger : undefined;
    if (requestLog) followLogSettings(requestLog, settings);
    const record = recordRefusals(requestLog, application.get(GatewayMetrics, { strict: false }));
    if (role === 'worker') application.use(operationsOnlyMiddleware(record));
    await setUpApplication(application, requestLog, record);
    const server = application.getHttpServer();
    await application.get(ConfigurationService, { strict: false }).begin(role);
    const fit = application.get(InstanceFit, { strict: false });
    await fit.join(role);
    const bootstrap = role === 'worker' ? NO_BOOTSTRAP : await ensureFirstTenant(application);
    // Before the sweep, which would briefly show these requests as crashed.
    await application.get(SettlementRecovery, { strict: false }).recoverAtStart();
    await application
      .get(HoldSweeperService, { strict: false })
      .sweepNow({ assumeOthersDead: config.databaseUrl === undefined });
    const stop = application.get(ServiceStop, { strict: false });
    const ledger = application.get(LedgerStore, { strict: false });
    await listen(application, config);
    // Also when the process exits without waiting.
    const onExit = (): void => void ledger.journalPending();
    process.on('exit', onExit);

    return {
      application,
      url: baseUrlOf(server, config),
      host: config.http.host,
      bootstrap,
      warnings: fit.misfits.map(({ reason }) => reason),
      providers: settings.config.providers.map((provider) => provider.id),
      exampleModel: exampleModelOf(application),
      hasConsole: config.http.hasConsole,
      checkKeys(print) {
        const checks = application.get(ProviderChecks, { strict: false });
        checks
          .begin((done) => print(describeStartChecks(done)))
          .catch((error: unknown) => void logger.error(error, 'provider checks'));
      },
      async settleIn() {
        if (role !== 'worker') await compileSchemas();
        application.get(ServiceDrain).settleIn();
      },
      async close() {
        // Workers receive no requests.
        if (role === 'worker') stop.hurry();
        await application.get(ServiceDrain).announce();
        // `ServiceDrain` closes first, then each part before those it depends on.
        const closing = application.close();
        const isClosed = await endsWithin(stop.leftMs + CLOSE_LIMIT_MS, closing);
        ledger.journalPending();
        await database.stop();
        // Some requests may have ended only now.
        const left = ledger.journalPending();
        process.off('exit', onExit);
        if (left > 0) throw new Error(`${left} settlements could not be written to the database.`);
        if (!isClosed) throw new Error('Not everything could be closed: the database is silent.');
        await closing;
      },
      hurry: () => stop.hurry(),
    };
  } catch (error) {
    // Otherwise its heartbeat and its workers would keep running.
    if (started) await endsWithin(FAILED_START_LIMIT_MS, started.close());
    await database.stop();
    throw error;
  }
}

/** Applies the log settings, which can change at runtime. */
function followLogSettings(logger: JsonLogger, settings: LiveSettings): void {
  const follow = (): void => {
    const { level, requests } = settings.config.log;
    logger.setLevel(level);
    logger.writesRequests = requests;
  };
  follow();
  settings.onChange(follow);
}

function ensureFirstTenant(application: INestApplication): Promise<BootstrapOutcome> {
  return application.get(BootstrapService, { strict: false }).ensureFirstTenant();
}

/** Returns the sandbox's echo if enabled, otherwise the first model of a configured provider. */
function exampleModelOf(application: INestApplication): string | undefined {
  const upstreams = application.get(UpstreamRegistry, { strict: false });
  const models = application
    .get(CatalogueService, { strict: false })
    .models.filter((model) => model.kind === 'chat')
    .filter((model) => model.routes.some((route) => upstreams.has(route.provider)));
  return (models.find((model) => model.id === 'sandbox/echo') ?? models[0])?.id;
}

/** @throws ConfigError when the address cannot be listened on */
async function listen(application: INestApplication, { http }: AppConfig): Promise<void> {
  try {
    await application.listen(http.port, http.host);
  } catch (error) {
    const problem = LISTEN_PROBLEMS[codeOf(error) ?? ''];
    throw problem === undefined ? error : new ConfigError([problem]);
  }
}

/** Messages by system error code. */
const LISTEN_PROBLEMS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'PORT must be one that no other program uses',
  EACCES: 'PORT must be one that this user may listen on',
  EADDRNOTAVAIL: 'HOST must be an address of this machine',
  ENOTFOUND: 'HOST must be an address of this machine or resolve to one',
  EAI_AGAIN: 'HOST must be an address of this machine or resolve to one',
};

/** Serves only operations; gateways answer everything else. */
function operationsOnlyMiddleware(record: RecordRefusal) {
  return ({ url = '' }: IncomingMessage, response: ServerResponse, next: () => void): void => {
    const [path = ''] = url.split('?', 1);
    if (PROBES.has(path)) next();
    else {
      const error = new NotFoundError('path', 'This is a worker. Send API requests to a gateway.');
      refuseRequest(response, error, record);
    }
  };
}
