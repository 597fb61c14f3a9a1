import { Transform } from 'class-transformer';
import { applyDecorators } from '@nestjs/common';
import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsInt, Max, Min, Matches, ValidateBy, ValidateIf, buildMessage } from 'class-validator';
import { parseIsoDateTime } from '../time/dates.js';

/** PostgreSQL's maximum, which no list reaches. */
const MAX_OFFSET = Number.MAX_SAFE_INTEGER;

/**
 * Converts a query parameter of decimal digits to a number before `@IsInt()` and the like. Other texts stay texts and
 * fail them, unlike with `Number()`, which reads an empty value as 0 and `1e3` as 1000.
 */
export function QueryInteger(): PropertyDecorator {
  return Transform(({ value }: { value: unknown }) =>
    typeof value === 'string' && /^-?\d+$/.test(value) ? Number(value) : value,
  );
}

interface PageLimitOptions {
  /** The field's default in its class. */
  readonly default: number;
  /** Larger values are rejected; undefined: they are capped by the code that reads the field. */
  readonly maximum?: number;
  readonly description?: string;
}

/** A page size: an integer of 1 or more in decimal digits. */
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
 * The number of entries to skip, newest first: an integer in decimal digits, 0 by default.
 *
 * @param entries what the list contains, such as `Jobs`
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

/** The field may be omitted, but not null. */
export function MayBeAbsent(): PropertyDecorator {
  return ValidateIf((_, value) => value !== undefined);
}

/** A name chosen by a tenant: 1 to 255 code points. */
export function IsName(): PropertyDecorator {
  return Matches(/^[^]{1,255}$/u, { message: 'name must be a string of 1 to 255 characters' });
}

/** A valid ISO 8601 date or date-time. */
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
