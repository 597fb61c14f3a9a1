import type { Server } from 'node:http';
import type { INestApplication } from '@nestjs/common';
import type { CorsOptions } from '@nestjs/common/interfaces/external/cors-options.interface.js';
import { accessLogMiddleware } from './access-log.middleware.js';
import { InvalidRequestError } from '../platform/errors/gateway-errors.js';
import { cutStalledEnds } from '../platform/http/drained.js';
import { LeanExpressAdapter } from '../platform/http/lean-express.adapter.js';
import {
  refuseRequest,
  type RecordRefusal,
  answerClientError,
} from '../platform/http/refuse-request.js';
import type { JsonLogger } from '../platform/logging/json-logger.js';
import { requestIdMiddleware } from '../platform/http/standard-headers.js';
import { StrictValidationPipe } from '../platform/http/strict-validation.pipe.js';
import { isMessagesPath, messagesErrorBody } from '../features/messages/messages-error-body.js';
import { UnauthenticatedQueue } from '../core/access/unauthenticated-queue.js';
import { GENERATION_HEADERS } from '../core/answers/generation.openapi.js';
import { APP_CONFIG, type AppConfig } from '../platform/config/app-config.js';
import { deploymentPathsMiddleware } from './deployment-paths.middleware.js';
import { GatewayErrorFilter, RouteTable } from './gateway-error.filter.js';
import { GatewayMetrics } from '../platform/metrics/gateway-metrics.js';
import { setUpOpenApi } from './openapi.js';
/** How long browsers may cache a preflight response. Most cap it at two hours. */
const PREFLIGHT_SECONDS = 7_200;
/** Time limit for the head of a request. */
const HEADERS_TIMEOUT_MS = 15_000;
/** Longer than the idle timeout of common load balancers, so that they close first. */
const KEEP_ALIVE_TIMEOUT_MS = 75_000;

/**
 * Installs everything global (middleware, filter, pipe, OpenAPI) and initializes the application.
 * Shared with the tests.
 */
export async function setUpApplication(
  application: INestApplication<Server>,
  logger: JsonLogger | undefined,
  record: RecordRefusal,
): Promise<void> {
  const routes = new RouteTable();
  application.use(requestIdMiddleware);
  if (logger) application.use(accessLogMiddleware(logger));
  const { corsOrigins } = application.get<AppConfig>(APP_CONFIG).http;
  if (corsOrigins.length > 0) application.enableCors(corsOf(corsOrigins));
  application.use(deploymentPathsMiddleware);
  application.useGlobalFilters(new GatewayErrorFilter(routes, application.get(GatewayMetrics)));
  application.useGlobalPipes(new StrictValidationPipe());
  setUpOpenApi(application);
  await application.init();
  routes.learn(application);
  const adapter = application.getHttpAdapter();
  if (adapter instanceof LeanExpressAdapter) {
    const unauthenticated = application.get(UnauthenticatedQueue, { strict: false });
    adapter.recordRefusal = record;
    adapter.turnOf = (request, response) => unauthenticated.turnOf(request, response);
  }
  setUpServer(application.getHttpServer(), record);
}

/** Keys travel in headers, so pages need no cookies. Any request header is allowed. */
function corsOf(origins: readonly string[]): CorsOptions {
  return {
    origin: origins.includes('*') ? '*' : [...origins],
    exposedHeaders: [...Object.keys(GENERATION_HEADERS), 'request-id', 'Retry-After', 'Location'],
    maxAge: PREFLIGHT_SECONDS,
  };
}

function setUpServer(server: Server, record: RecordRefusal): void {
  server.headersTimeout = HEADERS_TIMEOUT_MS;
  server.keepAliveTimeout = KEEP_ALIVE_TIMEOUT_MS;
  cutStalledEnds(server);
  server.on('clientError', (error, socket) => answerClientError(error, socket, record));
  // `Expect: 100-continue` is answered when the body is read, which is after the key check.
  server.on('checkContinue', (request, response) => {
    Object.assign(request, { writeContinue: () => response.writeContinue() });
    server.emit('request', request, response);
  });
  server.on('checkExpectation', ({ url = '' }, response) => {
    const message = 'The only supported expectation is `Expect: 100-continue`.';
    const error = new InvalidRequestError('expect', message, 417);
    const [path = ''] = url.split('?', 1);
    const body = isMessagesPath(path) ? messagesErrorBody(error) : undefined;
    refuseRequest(response, error, record, body);
  });
}
