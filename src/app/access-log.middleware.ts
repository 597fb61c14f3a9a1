import type { NextFunction, Request, Response } from 'express';
import type { GatewayRequest } from '../core/access/gateway-request.js';
import { hideKeys } from '../platform/http/hide-keys.js';
import type { JsonLogger } from '../platform/logging/json-logger.js';

/** Writes one log line per request when its response has ended or its caller has left. */
export function accessLogMiddleware(logger: JsonLogger) {
  return (request: Request, response: Response, next: NextFunction): void => {
    const { requestId } = request as GatewayRequest;
    const startedMs = performance.now();
    response.once('close', () => {
      const { caller } = request as GatewayRequest;
      logger.request({
        request_id: requestId,
        method: request.method,
        path: hideKeys(pathOf(request.originalUrl)),
        // Until the head is sent it says 200, whatever would have come.
        status: response.headersSent ? response.statusCode : undefined,
        duration_ms: Math.round(performance.now() - startedMs),
        aborted: response.writableFinished ? undefined : true,
        tenant_id: caller?.tenantId,
        api_key_id: caller?.apiKeyId,
        provider: response.getHeader('x-gateway-provider'),
      });
    });
    next();
  };
}

function pathOf(url: string): string {
  const end = url.indexOf('?');
  return end === -1 ? url : url.slice(0, end);
}
