import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsOptional, IsString } from 'class-validator';
import { InvalidRequestError } from '../errors/gateway-errors.js';
import { DAY_MS, parseIsoDateTime } from '../time/dates.js';

const DATE_LENGTH = 'YYYY-MM-DD'.length;

/** How a date of the range is described. */
const DAY_OR_INSTANT = {
  anyOf: [
    { type: 'string', format: 'date' },
    { type: 'string', format: 'date-time' },
  ],
};

/** A span of time, open at the sides that are left out; `parseDateRange` reads it. */
export class DateRangeQueryDto {
  @ApiPropertyOptional({
    ...DAY_OR_INSTANT,
    description: 'The first day or instant, as `YYYY-MM-DD` or ISO 8601; UTC without an offset.',
  })
  @IsOptional()
  @IsString({ message: 'start_date must be one date' })
  start_date?: string;

  @ApiPropertyOptional({
    ...DAY_OR_INSTANT,
    description:
      'The last day or instant, itself included, as `YYYY-MM-DD` or ISO 8601; UTC without an offset.',
  })
  @IsOptional()
  @IsString({ message: 'end_date must be one date' })
  end_date?: string;
}

/** A span of time, open at the sides that are undefined. */
interface DateRange {
  /** The first instant inside. */
  readonly start: Date | undefined;
  /** The first instant after. */
  readonly end: Date | undefined;
}

/**
 * Reads the query parameters `start_date` and `end_date`, both inclusive and in UTC unless they
 * name an offset. A bare end date includes its whole day.
 *
 * @throws InvalidRequestError naming the parameter that is no ISO 8601 date or names no real day
 */
export function parseDateRange(startDate?: string, endDate?: string): DateRange {
  return {
    start: startDate === undefined ? undefined : parse('start_date', startDate),
    end: endDate === undefined ? undefined : endAfter(endDate),
  };
}

function endAfter(endDate: string): Date {
  const last = parse('end_date', endDate);
  // Times are shown to the millisecond, so what is shown as the very end belongs to the range.
  const lengthMs = endDate.length === DATE_LENGTH ? DAY_MS : 1;
  return new Date(last.getTime() + lengthMs);
}

function parse(param: string, text: string): Date {
  // An offset's plus that was put into a URL as it is arrives as a space.
  const instant = parseIsoDateTime(text.replace(/(:\d\d(?:[.,]\d+)?) (\d\d:?\d\d)$/, '$1+$2'));
  if (instant) return instant;
  throw new InvalidRequestError(
    param,
    `\`${param}\` must be a date such as 2026-01-31 or an ISO 8601 date-time such as 2026-01-31T12:00:00Z.`,
  );
}
