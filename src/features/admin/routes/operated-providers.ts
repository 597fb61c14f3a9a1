import type { ProviderCheck } from '../../../core/configuration/provider-checks.service.js';
import { toKeyCheck } from '../../../core/credentials/account-check.dto.js';
import type { AccountFigures } from '../../../core/routing/pool/account-figures.js';
import type { RoutePause } from '../../../core/routing/route-pauses.service.js';
import type { OperatedAccountDto, OperatedKeyCheckDto } from './operated-providers.dto.js';
import type { RoutePauseDto } from './routes.dto.js';

export function toAccount(figures: AccountFigures): OperatedAccountDto {
  const { id, weight, state, requestsPerMinute, tokensPerMinute } = figures;
  return {
    id,
    weight,
    state,
    requests_in_flight: figures.inFlight,
    requests_last_minute: figures.requestsLastMinute,
    tokens_last_minute: figures.tokensLastMinute,
    requests_per_minute: requestsPerMinute ?? null,
    tokens_per_minute: tokensPerMinute ?? null,
  };
}

export function toOperatedCheck({
  account,
  check,
  catalogue,
  checkedAt,
}: ProviderCheck): OperatedKeyCheckDto {
  return {
    ...toKeyCheck(check),
    account: account ?? null,
    catalogue: catalogue && { ...catalogue, missing: [...catalogue.missing] },
    checked_at: checkedAt.toISOString(),
  };
}

export function toPause(pause: RoutePause): RoutePauseDto {
  return {
    provider: pause.provider,
    model: pause.model,
    reason: pause.reason,
    paused_by: pause.pausedBy,
    paused_at: pause.pausedAt.toISOString(),
    until: pause.until?.toISOString() ?? null,
  };
}
