import { ApiKeyEntity } from './api-key.entity.js';

/**
 * A key as it may be used: with the earliest end and the lowest limits of its own and of the keys
 * above it.
 */
export function boundBy(key: ApiKeyEntity, above: readonly ApiKeyEntity[]): ApiKeyEntity {
  const chain = [key, ...above];
  return Object.assign(new ApiKeyEntity(), key, {
    expiresAt: earliest(chain.map(({ expiresAt }) => expiresAt)),
    revokedAt: key.revokedAt ?? earliest(above.map(({ revokedAt }) => revokedAt)),
    rateLimitPerMinute: Math.min(...chain.map(({ rateLimitPerMinute }) => rateLimitPerMinute)),
    monthlySpendLimit: lowest(chain.map(({ monthlySpendLimit }) => monthlySpendLimit)),
  });
}

/** Null: none of them. */
function lowest(values: readonly (number | null)[]): number | null {
  const given = values.filter((value) => value !== null);
  return given.length === 0 ? null : Math.min(...given);
}

function earliest(times: readonly (Date | null)[]): Date | null {
  const time = lowest(times.map((each) => each?.getTime() ?? null));
  return time === null ? null : new Date(time);
}
