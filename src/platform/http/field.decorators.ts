import { Transform } from 'class-transformer';
import { applyDecorators } from '@nestjs/common';
import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsInt, Max, Min, Matches, ValidateBy, ValidateIf, buildMessage } from 'class-validator';
import { parseIsoDateTime } from '../time/dates.js';

/** PostgreSQL counts no further than this, and no list is longer. */
const MAX_OFFSET = Number.MAX_SAFE_INTEGER;

/**
 * Reads a query parameter's decimal digits as a number, ahead of `@IsInt()` and its kin. Anything
 * else stays the text it is, and so is no integer to them: unlike `Number()`, which takes an empty
 * value for 0 and `1e3` for 1000.
 */
export function QueryInteger(): PropertyDecorator {
  return Transform(({ value }: { value: unknown }) =>
    typeof value === 'string' && /^-?\d+$/.test(value) ? Number(value) : value,
  );
}

interface PageLimitOptions {
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
      maximum: MAX_OFFSET,
      default: 0,
      description: `${entries} to leave out, counted from the newest.`,
    }),
    QueryInteger(),
    IsInt({ message }),
    Min(0, { message }),
    Max(MAX_OFFSET, { message }),
  );
}

/** The field may be left out, but not be null. */
export function MayBeAbsent(): PropertyDecorator {
  return ValidateIf((_, value) => value !== undefined);
}

/** A name that a tenant gives to something of its own: 1 to 255 characters, counted as code points. */
export function IsName(): PropertyDecorator {
  return Matches(/^[^]{1,255}$/u, { message: 'name must be a string of 1 to 255 characters' });
}

/** An ISO 8601 date or date-time of a day that exists. */
export function IsIsoDateTime(): PropertyDecorator {
  return ValidateBy({
    name: 'isIsoDateTime',
    validator: {
      validate: (value: unknown) =>
        typeof value === 'string' && parseIsoDateTime(value) !== undefined,
      defaultMessage: buildMessage(
        (prefix) =>
          `${prefix}$property must be an ISO 8601 date-time such as 2030-12-31T23:59:59Z, or null`,
      ),
    },
  });
}
