import {
  ArgumentsHost,
  Catch,
  ExceptionFilter,
  HttpException,
  Logger,
  NotFoundException,
  type INestApplication,
} from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { Response, Express } from 'express';
import type { GatewayRequest } from '../core/access/gateway-request.js';
import { setRateLimitHeaders } from '../core/access/rate-limit.guard.js';
import { gatewayErrorOf } from '../platform/database/database-outage.js';
import { errorBody } from '../platform/errors/error-response.js';
import {
  GatewayError,
  InvalidRequestError,
  NotFoundError,
  ServiceStopsError,
} from '../platform/errors/gateway-errors.js';
import { closeAfterRefusal } from '../platform/http/refuse-request.js';
import { hideKeys } from './access-log.middleware.js';
import { CallerGoneError } from '../platform/http/read-body.js';
import { isStoppedByService } from '../platform/http/server-drain.js';
import { sendJson } from '../platform/http/send-body.js';
import {
  isMessagesPath,
  messagesErrorBody,
  messagesStatus,
} from '../features/messages/messages-error-body.js';
import type { GatewayMetrics } from '../platform/metrics/gateway-metrics.js';

/** Paths with more segments get no suggestion. */
const MAX_STEPS = 12;

/** Knows the methods of each path, to tell a wrong method (405) from an unknown path (404). */
export class RouteTable {
  private layers: RouterLayer[] = [];

  /** Reads the routes of an initialized application. */
  learn(application: INestApplication): void {
    const { httpAdapter } = application.get(HttpAdapterHost);
    const stack: readonly object[] = httpAdapter.getInstance<Express>().router.stack;
    this.layers = stack.filter(isRouterLayer);
  }

  methodsOf(path: string): string[] {
    const matching = this.layers.filter((layer) => layer.match(path));
    // A literal path such as `/keys/current` also matches `/keys/:id`.
    const own = matching.filter(({ route }) => route.path === path);
    const methods = (own.length > 0 ? own : matching).flatMap(({ route }) =>
      Object.keys(route.methods),
    );
    // Express answers HEAD wherever it answers GET.
    if (methods.includes('get')) methods.push('head');
    return [...new Set(methods.map((method) => method.toUpperCase()))].sort();
  }

  /**
   * Suggests the intended path when a client's base URL has too much or too little, e.g.
   * `/v1/chat/completions` for `/chat/completions`, `/v1/v1/chat/completions` or `/v1//chat/completions`.
   */
  suggestionFor(method: string, path: string): string | undefined {
    const steps = path.split('/').filter((step) => step !== '');
    if (steps.length > MAX_STEPS) return undefined;
    return steps
      .map((_, index) => `/v1/${steps.slice(index).join('/')}`)
      .find((candidate) => this.methodsOf(candidate).includes(method));
  }
}

/** Renders every failure as the API's error body. No other code does. */
@Catch()
export class GatewayErrorFilter implements ExceptionFilter {
  private readonly logger = new Logger(GatewayErrorFilter.name);

  constructor(
    private readonly routes: RouteTable,
    private readonly metrics: GatewayMetrics,
  ) {}

  catch(thrown: unknown, host: ArgumentsHost): void {
    const request = host.switchToHttp().getRequest<GatewayRequest>();
    const response = host.switchToHttp().getResponse<Response>();
    if (response.destroyed) return;
    const isGone = thrown instanceof CallerGoneError;
    if (isGone && !(isStoppedByService(response) && !response.headersSent)) return;

    const error = isGone ? new ServiceStopsError() : this.describe(thrown, request);
    this.metrics.observeError(error.type, error.status, error.limit);
    if (error.status === 500) {
      this.logger.error(`${request.requestId}: ${describeCause(error.cause ?? thrown)}`);
    }
    if (response.headersSent) {
      // Too late for an error body. Cutting the connection at least does not look like success.
      response.destroy();
      return;
    }
    if (request.rateLimit) setRateLimitHeaders(response, request.rateLimit);
    if (error.retryAfterSeconds !== undefined) {
      response.setHeader('Retry-After', String(error.retryAfterSeconds));
    }
    setHeaders(response, error.headers);
    // Unauthenticated callers may not keep a connection, nor may callers that send too slowly.
    const isSending = !request.complete && (!request.caller || error.status === 408);
    const hasWrongKey = error.status === 401 || (error.status === 429 && !request.caller);
    if (hasWrongKey || isSending) closeAfterRefusal(request, response);
    if (isMessagesPath(request.path)) {
      sendJson(response, messagesStatus(error), messagesErrorBody(error));
    } else {
      sendJson(response, error.status, errorBody(error));
    }
  }

  private describe(thrown: unknown, request: GatewayRequest): GatewayError {
    if (thrown instanceof GatewayError) return thrown;
    if (thrown instanceof NotFoundException) return this.describeUnknownPath(request);
    // Express's own errors, plain or wrapped by Nest: a path with a malformed percent sign.
    const status = thrown instanceof HttpException ? thrown.getStatus() : statusOf(thrown);
    if (typeof status === 'number' && status >= 400 && status < 500) {
      return new InvalidRequestError('path', 'The path of the request is malformed.');
    }
    return gatewayErrorOf(thrown);
  }

  private describeUnknownPath({ method, path }: GatewayRequest): GatewayError {
    const allowed = this.routes.methodsOf(path);
    const shownPath = hideKeys(path).slice(0, 200);
    if (allowed.length === 0) {
      const suggestion = this.routes.suggestionFor(method, path);
      const help = suggestion
        ? `Did you mean ${hideKeys(suggestion)}? Check the client's base URL.`
        : 'See /docs.';
      return new NotFoundError('path', `There is no ${method} ${shownPath}. ${help}`);
    }
    return new GatewayError({
      status: 405,
      type: 'invalid_request_error',
      param: 'method',
      message: `${shownPath} takes ${allowed.join(', ')}, not ${method}.`,
      headers: { Allow: allowed.join(', ') },
    });
  }
}

function setHeaders(response: Response, headers: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
}

function describeCause(cause: unknown): string {
  return cause instanceof Error ? (cause.stack ?? cause.message) : String(cause);
}

/** Reads the status that Express sets on its own errors. */
function statusOf(thrown: unknown): unknown {
  return typeof thrown === 'object' && thrown !== null && 'status' in thrown
    ? thrown.status
    : undefined;
}

/** A layer of Express's router, which its types do not declare. */
interface RouterLayer {
  match(path: string): boolean;
  route: { path: unknown; methods: Record<string, boolean> };
}

/** Layers without a route are middleware. */
function isRouterLayer(layer: object): layer is RouterLayer {
  return 'route' in layer && layer.route !== undefined;
}
