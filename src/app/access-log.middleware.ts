import type { NextFunction, Response } from 'express';
import type { GatewayRequest } from '../core/access/gateway-request.js';
import type { JsonLogger } from '../platform/logging/json-logger.js';
import type { RecordRefusal } from '../platform/http/refuse-request.js';
import type { GatewayMetrics } from '../platform/metrics/gateway-metrics.js';

/**
 * Matches the start of a key, plain or percent-encoded. Not inside a word (`task-`), but after an
 * encoded character, whose last digit may be a letter.
 */
const KEY = /(?:(?<![a-z])|(?<=%[\da-f]{2}))(?:s|%73)(?:k|%6b)(?:-|%2d)[^/]{8,}/gi;

/** Polled by machines, so logged at `info` only when they fail. */
export const PROBES = new Set(['/healthz', '/readyz', '/metrics']);
/** Console files, and pages that reload until the console is built. What they do is under `/v1`. */
const CONSOLE = /^\/console(?:\/|$)/;

/** Writes one log line per request when its response has ended or its caller has disconnected. */
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
      // Until the head is sent, the status code is 200 whatever the outcome.
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
        isRoutine(path, response.writableFinished ? status : undefined) ? 'debug' : 'info',
      );
    });
    next();
  };
}

/** Returns whether a request is logged at `debug` only. `status` is undefined when it was aborted. */
export function isRoutine(path: string, status: number | undefined): boolean {
  if (CONSOLE.test(path)) return true;
  return PROBES.has(path) && status !== undefined && status < 400;
}

function pathOf(url: string): string {
  const end = url.indexOf('?');
  return end === -1 ? url : url.slice(0, end);
}

/** Logs and counts requests that are refused before the access log middleware. */
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

/** Replaces API keys in a text, such as a path that contains one by mistake. */
export function hideKeys(text: string): string {
  return text.replace(KEY, 'sk-…');
}
