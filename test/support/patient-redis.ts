const PATIENCE_MS = 60_000;

/**
 * Raises the command timeout of a service's Redis client, so that a stalled machine is not taken for
 * a failed Redis.
 */
export function withPatience<Service extends object>(service: Service): Service {
  const { redis } = (service as { redis?: { redis: { options: { commandTimeout?: number } } } })
    .redis!;
  redis.options.commandTimeout = PATIENCE_MS;
  return service;
}
