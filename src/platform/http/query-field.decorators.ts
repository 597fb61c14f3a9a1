import { applyDecorators } from '@nestjs/common';
import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsInt, Max, Min } from 'class-validator';
import { QueryInteger } from './query-integer.decorator.js';

/** PostgreSQL counts no further than this, and no list is longer. */
const MAX_OFFSET = Number.MAX_SAFE_INTEGER;

export interface PageLimitOptions {
  /** What the field is set to in its class. */
  readonly default: number;
  /** More is refused; undefined: taken, and cut to size by whoever reads the field. */
  readonly maximum?: number;
  readonly description?: string;
}

/** How many entries of a list a page has: an integer of 1 or more, in decimal digits. */
export function PageLimit({
  default: defaultLimit,
  maximum,
  description,
}: PageLimitOptions): PropertyDecorator {
  const range = maximum === undefined ? 'of 1 or more' : `from 1 to ${maximum}`;
  const message = `limit must be an integer ${range}`;
  return applyDecorators(
    ApiPropertyOptional({
      type: 'integer',
      minimum: 1,
      ...(maximum !== undefined && { maximum }),
      default: defaultLimit,
      ...(description !== undefined && { description }),
    }),
    QueryInteger(),
    IsInt({ message }),
    Min(1, { message }),
    ...(maximum === undefined ? [] : [Max(maximum, { message })]),
  );
}

/**
 * How many entries of a list, newest first, come before the page: an integer in decimal digits, 0 by
 * default.
 *
 * @param entries what the list has, as `Jobs`
 */
export function PageOffset(entries: string): PropertyDecorator {
  const message = `offset must be an integer from 0 to ${MAX_OFFSET}`;
  return applyDecorators(
    ApiPropertyOptional({
      type: 'integer',
      minimum: 0,
      default: 0,
      description: `${entries} to leave out, counted from the newest.`,
    }),
    QueryInteger(),
    IsInt({ message }),
    Min(0, { message }),
    Max(MAX_OFFSET, { message }),
  );
}
