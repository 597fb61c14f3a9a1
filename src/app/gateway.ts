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
 * How long the parts of a stopping service may take to close, after the time in which answers and jobs
 * may end: a moment where they can, but connections to a database that has fallen silent never close.
 * An embedded database has what is left of 10 seconds.
 */
const CLOSE_LIMIT_MS = 4_000;
/** The same for one whose start has failed. */
const BREAK_OFF_LIMIT_MS = 5_000;

/** A running service. */
export interface Gateway {
  application: INestApplication;
  /** Where it listens, e.g. `http://127.0.0.1:3000`. */
  url: string;
  /** The address that it listens on. */
  host: string;
  bootstrap: BootstrapOutcome;
  /** In what it does not fit the other instances on its database, a sentence each. */
  warnings: readonly string[];
  /** Ids of the configured providers. */
  providers: readonly string[];
  /** A chat model to try first. */
  exampleModel: string | undefined;
  /** Whether there are pages at `/console`. */
  hasConsole: boolean;
  /** Does, once callers are served, what is worth it in a process that goes on for long. To be called once. */
  settleIn(): Promise<void>;
  /**
   * Tries the keys of the configured providers in the background, now and when others are configured, unless
   * that is turned off.
   *
   * @param print given the lines that say what came of it
   */
  checkKeys(print: (lines: string) => void): void;
  /**
   * Serves on for the time of a lame duck, lets running answers end (up to the drain limit), settles what
   * is open, and stops everything. What cannot be settled is journalled.
   *
   * @throws Error when not all could be closed, or not all be settled
   */
  close(): Promise<void>;
  /** While it closes: ends the time of the lame duck. @returns false when that was over */
  hurry(): boolean;
}

/** A worker leaves the first tenant to the gateways. */
const MADE_ELSEWHERE: BootstrapOutcome = { kind: 'earlier', created: undefined };

interface StartOptions {
  /** A worker does the background work only: no first tenant, and no HTTP beside operations. */
  readonly role: 'gateway' | 'worker';
}

/** Starts the whole service: database, migrations, first tenant, HTTP. */
export async function startGateway(
  config: AppConfig,
  logger: LoggerService,
  { role }: StartOptions = { role: 'gateway' },
): Promise<Gateway> {
  const database = await openDatabase(config, (line) => void logger.warn(line, 'database'));
  let begun: INestApplication | undefined;
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
    begun = application;
    const requestLog = logger instanceof JsonLogger ? logger : undefined;
    if (requestLog) followLogSettings(requestLog, settings);
    const record = recordRefusals(requestLog, application.get(GatewayMetrics, { strict: false }));
    if (role === 'worker') application.use(operationsOnlyMiddleware(record));
    await setUpApplication(application, requestLog, record);
    const server = application.getHttpServer();
    await application.get(ConfigurationService, { strict: false }).begin(role);
    const fit = application.get(InstanceFit, { strict: false });
    await fit.join(role);
    const bootstrap = role === 'worker' ? MADE_ELSEWHERE : await ensureFirstTenant(application);
    // Before the sweep, which would show these requests as crashed for a moment.
    await application.get(SettlementRecovery, { strict: false }).recoverAtStart();
    await application
      .get(HoldSweeperService, { strict: false })
      .sweepNow({ assumeOthersDead: config.databaseUrl === undefined });
    const stop = application.get(ServiceStop, { strict: false });
    const ledger = application.get(LedgerStore, { strict: false });
    await listen(application, config);
    // Also when somebody cannot wait for the end.
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
          .catch((error: unknown) => void logger.error(error, 'the check of keys'));
      },
      async settleIn() {
        if (role !== 'worker') await compileSchemas();
        application.get(ServiceDrain).settleIn();
      },
      async close() {
        // Nobody sends requests to a worker.
        if (role === 'worker') stop.hurry();
        await application.get(ServiceDrain).announce();
        // `ServiceDrain` goes first, then each part before those that it needs.
        const closing = application.close();
        const isClosed = await endsWithin(stop.leftMs + CLOSE_LIMIT_MS, closing);
        ledger.journalPending();
        await database.stop();
        // Some may have come to their end only now.
        const left = ledger.journalPending();
        process.off('exit', onExit);
        if (left > 0) throw new Error(`${left} settlements could not be written to the database.`);
        if (!isClosed) throw new Error('Not everything could be closed; the database is silent.');
        await closing;
      },
      hurry: () => stop.hurry(),
    };
  } catch (error) {
    // Its heartbeat and its workers would go on.
    if (begun) await endsWithin(BREAK_OFF_LIMIT_MS, begun.close());
    await database.stop();
    throw error;
  }
}

/** What the log has is a setting that may change. */
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

/** The sandbox's echo where it is on, else the first model that a configured provider serves. */
function exampleModelOf(application: INestApplication): string | undefined {
  const upstreams = application.get(UpstreamRegistry, { strict: false });
  const models = application
    .get(CatalogueService, { strict: false })
    .models.filter((model) => model.kind === 'chat')
    .filter((model) => model.routes.some((route) => upstreams.has(route.provider)));
  return (models.find((model) => model.id === 'sandbox/echo') ?? models[0])?.id;
}

/** @throws ConfigError when there is nothing to listen on at this address */
async function listen(application: INestApplication, { http }: AppConfig): Promise<void> {
  try {
    await application.listen(http.port, http.host);
  } catch (error) {
    const problem = LISTEN_PROBLEMS[codeOf(error) ?? ''];
    throw problem === undefined ? error : new ConfigError([problem]);
  }
}

/** By the system's word for it. */
const LISTEN_PROBLEMS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'PORT must be one that no other program uses',
  EACCES: 'PORT must be one that this user may listen on',
  EADDRNOTAVAIL: 'HOST must be an address of this machine',
  ENOTFOUND: 'HOST must be an address of this machine, or a name that has one',
  EAI_AGAIN: 'HOST must be an address of this machine, or a name that has one',
};

/** In a process that only works in the background: all else is for the gateways to answer. */
function operationsOnlyMiddleware(record: RecordRefusal) {
  return ({ url = '' }: IncomingMessage, response: ServerResponse, next: () => void): void => {
    const [path = ''] = url.split('?', 1);
    if (PROBES.has(path)) next();
    else {
      const error = new NotFoundError('path', 'This is a worker; ask a gateway.');
      refuseRequest(response, error, record);
    }
  };
}
