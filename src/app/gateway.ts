import type { Server, IncomingMessage, ServerResponse } from 'node:http';
import { NestFactory } from '@nestjs/core';
import type { INestApplication, LoggerService } from '@nestjs/common';
import { AppModule } from './app.module.js';
import { setUpApplication } from './app.setup.js';
import { BootstrapService, type BootstrapOutcome } from './bootstrap/bootstrap.service.js';
import { CatalogueService } from '../core/catalogue/catalogue.service.js';
import type { AppConfig } from '../platform/config/app-config.js';
import { ConfigError } from '../platform/config/config-error.js';
import { migrateDatabase } from '../platform/database/migrate-database.js';
import { openDatabase } from '../platform/database/open-database.js';
import { JsonLogger } from '../platform/logging/json-logger.js';
import { baseUrlOf } from '../platform/http/base-url.js';
import { LeanExpressAdapter } from '../platform/http/lean-express.adapter.js';
import { HoldSweeperService } from '../core/ledger/hold-sweeper.service.js';
import { GatewayMetrics } from '../platform/metrics/gateway-metrics.js';
import { MIGRATIONS } from './migrations.js';
import { recordRefusals } from './access-log.middleware.js';
import { endsWithin } from '../platform/time/within.js';
import { UpstreamRegistry } from '../vendors/upstream.registry.js';
import { NotFoundError } from '../platform/errors/gateway-errors.js';
import { refuseRequest, type RecordRefusal } from '../platform/http/refuse-request.js';
import { codeOf } from '../platform/errors/thrown.js';

const OPERATIONS = new Set(['/healthz', '/readyz', '/metrics']);

/**
 * How long the parts of a stopping service may take to close, beside what answers and jobs are waited
 * for: a few seconds where they can, but connections to a database that has fallen silent never close.
 */
const CLOSE_LIMIT_MS = 25_000;

/** A running service. */
export interface Gateway {
  application: INestApplication;
  /** Where it listens, e.g. `http://127.0.0.1:3000`. */
  url: string;
  /** The address that it listens on. */
  host: string;
  bootstrap: BootstrapOutcome;
  /** Ids of the configured providers. */
  providers: readonly string[];
  /** A chat model to try first. */
  exampleModel: string | undefined;
  /** Lets running answers end (up to the drain limit), settles what is open, and stops everything. */
  close(): Promise<void>;
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
  const database = await openDatabase(config);
  try {
    await migrateDatabase(database.url, MIGRATIONS);
    const application = await NestFactory.create<INestApplication<Server>>(
      AppModule.forRoot(config, database.url),
      new LeanExpressAdapter(),
      { bodyParser: false, logger, abortOnError: false },
    );
    const requestLog = config.log.requests && logger instanceof JsonLogger ? logger : undefined;
    const record = recordRefusals(requestLog, application.get(GatewayMetrics, { strict: false }));
    if (role === 'worker') application.use(operationsOnlyMiddleware(record));
    await setUpApplication(application, requestLog, record);
    const server = application.getHttpServer();
    const bootstrap = role === 'worker' ? MADE_ELSEWHERE : await ensureFirstTenant(application);
    await application
      .get(HoldSweeperService, { strict: false })
      .sweepNow({ assumeOthersDead: config.databaseUrl === undefined });
    await listen(application, config);

    return {
      application,
      url: baseUrlOf(server, config),
      host: config.http.host,
      bootstrap,
      providers: config.providers.map((provider) => provider.id),
      exampleModel: exampleModelOf(application),
      async close() {
        // `ServiceDrain` goes first, then each part before those that it needs.
        const closing = application.close();
        // Answers and jobs are waited for, one after the other, and then everything else.
        const limitMs = 2 * config.drainSeconds * 1_000 + CLOSE_LIMIT_MS;
        const isClosed = await endsWithin(limitMs, closing);
        await database.stop();
        if (!isClosed) throw new Error('Not everything could be closed; the database is silent.');
        await closing;
      },
    };
  } catch (error) {
    await database.stop();
    throw error;
  }
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
    if (OPERATIONS.has(path)) next();
    else {
      const error = new NotFoundError('path', 'This is a worker; ask a gateway.');
      refuseRequest(response, error, record);
    }
  };
}
