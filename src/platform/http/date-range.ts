import { StringField } from './field.decorators.js';
import { InvalidRequestError } from '../errors/gateway-errors.js';
import { DAY_MS, parseIsoDateTime } from '../time/dates.js';

const DATE_LENGTH = 'YYYY-MM-DD'.length;

/** The description of a date parameter. */
const DAY_OR_INSTANT = {
  anyOf: [
    { type: 'string', format: 'date' },
    { type: 'string', format: 'date-time' },
  ],
};

/** A time range, open at omitted ends; read it with `parseDateRange`. */
export class DateRangeQueryDto {
  @StringField({
    ...DAY_OR_INSTANT,
    optional: true,
    description: 'The first day or instant, as `YYYY-MM-DD` or ISO 8601; UTC without an offset.',
    message: 'must be one date',
  })
  start_date?: string;

  @StringField({
    ...DAY_OR_INSTANT,
    optional: true,
    description:
      'The last day or instant, inclusive, as `YYYY-MM-DD` or ISO 8601; UTC without an offset.',
    message: 'must be one date',
  })
  end_date?: string;
}

/** A time range, open at undefined ends. */
interface DateRange {
  /** The first instant inside. */
  readonly start: Date | undefined;
  /** The first instant after. */
  readonly end: Date | undefined;
}

/**
 * Parses `start_date` and `end_date`, both inclusive, in UTC unless they have an offset. An end date without a time
 * includes its whole day.
 *
 * @throws InvalidRequestError naming the parameter that is not a valid ISO 8601 date
 */
export function parseDateRange(startDate?: string, endDate?: string): DateRange {
  return {
    start: startDate === undefined ? undefined : parse('start_date', startDate),
    end: endDate === undefined ? undefined : endAfter(endDate),
  };
}

function endAfter(endDate: string): Date {
  const last = parse('end_date', endDate);
  // Times are shown in milliseconds, so the last shown millisecond is inside.
  const lengthMs = endDate.length === DATE_LENGTH ? DAY_MS : 1;
  return new Date(last.getTime() + lengthMs);
}

function parse(param: string, text: string): Date {
  // An unescaped plus of an offset arrives as a space.
  const instant = parseIsoDateTime(text.replace(/(:\d\d(?:[.,]\d+)?) (\d\d:?\d\d)$/, '$1+$2'));
  if (instant) return instant;
  throw new InvalidRequestError(
    param,
    `\`${param}\` must be a date such as 2026-01-31 or an ISO 8601 date-time such as 2026-01-31T12:00:00Z.`,
  );
}
