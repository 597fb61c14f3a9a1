import type { NextFunction, Response } from 'express';
import type { GatewayRequest } from '../core/access/gateway-request.js';
import type { JsonLogger } from '../platform/logging/json-logger.js';
import type { RecordRefusal } from '../platform/http/refuse-request.js';
import type { GatewayMetrics } from '../platform/metrics/gateway-metrics.js';

/**
 * The beginning of a key, as it is or percent-encoded. Not inside of a word (`task-`), but after an
 * encoded character, whose last digit may be a letter.
 */
const KEY = /(?:(?<![a-z])|(?<=%[\da-f]{2}))(?:s|%73)(?:k|%6b)(?:-|%2d)[^/]{8,}/gi;

/** What machines ask for all day: a line only where the answer was no success. */
export const PROBES = new Set(['/healthz', '/readyz', '/metrics']);
/** Pages and files of the console, which also ask again until it is built; what they do is under `/v1`. */
const CONSOLE = /^\/console(?:\/|$)/;

/** Writes one log line per request when its response has ended or its caller has left. */
export function accessLogMiddleware(logger: JsonLogger) {
  return (request: GatewayRequest, response: Response, next: NextFunction): void => {
    if (!logger.writesRequests) {
      next();
      return;
    }
    const { requestId } = request;
    const startedMs = performance.now();
    response.once('close', () => {
      const { caller, operator } = request;
      const path = pathOf(request.originalUrl);
      // Until the head is sent it says 200, whatever would have come.
      const status = response.headersSent ? response.statusCode : undefined;
      logger.request(
        {
          request_id: requestId,
          method: request.method,
          path: hideKeys(path),
          status,
          duration_ms: Math.round(performance.now() - startedMs),
          aborted: response.writableFinished ? undefined : true,
          tenant_id: caller?.tenantId,
          api_key_id: caller?.apiKeyId,
          operator_id: operator?.actor.id ?? undefined,
          provider: response.getHeader('x-gateway-provider'),
        },
        isDull(path, response.writableFinished ? status : undefined) ? 'debug' : 'info',
      );
    });
    next();
  };
}

/** Whether nobody misses its line. `status` is undefined where the caller left before the end. */
export function isDull(path: string, status: number | undefined): boolean {
  if (CONSOLE.test(path)) return true;
  return PROBES.has(path) && status !== undefined && status < 400;
}

function pathOf(url: string): string {
  const end = url.indexOf('?');
  return end === -1 ? url : url.slice(0, end);
}

/** Log line and metric of what is refused before the middleware that writes them for all others. */
export function recordRefusals(
  logger: JsonLogger | undefined,
  metrics: GatewayMetrics,
): RecordRefusal {
  return ({ requestId, error, method, url }) => {
    metrics.observeError(error.type, error.status);
    logger?.request({
      request_id: requestId,
      method,
      path: url === undefined ? undefined : hideKeys(url.split('?', 1)[0]!),
      status: error.status,
      duration_ms: 0,
    });
  };
}

/** A text without the API keys in it, such as a path that one was put into by mistake. */
export function hideKeys(text: string): string {
  return text.replace(KEY, 'sk-…');
}
