import { hideKeys } from '../platform/http/hide-keys.js';
import type { RecordRefusal } from '../platform/http/refuse-request.js';
import type { JsonLogger } from '../platform/logging/json-logger.js';
import type { GatewayMetrics } from '../platform/metrics/gateway-metrics.js';

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
