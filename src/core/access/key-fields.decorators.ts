import { applyDecorators } from '@nestjs/common';
import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsInt, IsOptional, Max, Min } from 'class-validator';
import { MAX_RATE_LIMIT_PER_MINUTE } from '../../platform/config/setting-values.js';
import { IsIsoDateTime, MayBeAbsent } from '../../platform/http/field.decorators.js';

/** A key's expiry as an ISO time, or null for never. */
export function KeyExpiry(description: string): PropertyDecorator {
  return applyDecorators(
    ApiPropertyOptional({
      type: String,
      format: 'date-time',
      nullable: true,
      description,
      example: '2030-12-31T23:59:59Z',
    }),
    IsOptional(),
    IsIsoDateTime(),
  );
}

/** A key's requests per minute. */
export function KeyRateLimit(description: string): PropertyDecorator {
  const message = `rate_limit_per_minute must be an integer from 1 to ${MAX_RATE_LIMIT_PER_MINUTE}`;
  return applyDecorators(
    ApiPropertyOptional({
      type: 'integer',
      minimum: 1,
      maximum: MAX_RATE_LIMIT_PER_MINUTE,
      description,
      example: 600,
    }),
    MayBeAbsent(),
    IsInt({ message }),
    Min(1, { message }),
    Max(MAX_RATE_LIMIT_PER_MINUTE, { message }),
  );
}

/** A key's credits per calendar month; null for no limit of its own. */
export function KeySpendLimit(description: string): PropertyDecorator {
  const maximum = Number.MAX_SAFE_INTEGER;
  const message = `monthly_spend_limit must be an integer from 1 to ${maximum}, or null`;
  return applyDecorators(
    ApiPropertyOptional({
      type: 'integer',
      nullable: true,
      minimum: 1,
      maximum,
      description,
      example: 5_000_000,
    }),
    IsOptional(),
    IsInt({ message }),
    Min(1, { message }),
    Max(maximum, { message }),
  );
}
