import { Transform } from 'class-transformer';
import {
  EnumField,
  QueryIntegerField,
  StringField,
  type FieldDecorator,
} from '../../platform/http/field.decorators.js';
import { StringListField } from '../../platform/http/nested-field.decorators.js';
import { PageLimit } from '../../platform/http/cursor-page.js';
import { parseTagFilter } from '../../canonical/request-tags.js';
import { isUuid } from '../../platform/database/stored-text.js';
import { InvalidRequestError } from '../../platform/errors/gateway-errors.js';
import { DateRangeQueryDto, parseDateRange } from '../../platform/http/date-range.js';
import type { RequestLogFilters } from './request-log-filters.js';
import { REQUEST_STATUSES, type RequestStatus } from './request-log-row.js';

/**
 * Declares a nonempty text filter. Without an example, because Swagger UI would fill it in and
 * match nothing.
 */
function Exactly(what: string): FieldDecorator<string, { readonly optional: true }> {
  return StringField({
    optional: true,
    minLength: 1,
    description: `Matches this ${what} exactly.`,
    message: `must be a single ${what}`,
  });
}

function Credits(which: 'least' | 'most'): FieldDecorator<number, { readonly optional: true }> {
  return QueryIntegerField({
    optional: true,
    minimum: 0,
    maximum: Number.MAX_SAFE_INTEGER,
    description: `Charged at ${which} this many credits.`,
  });
}

/** Filters on requests; all must match. */
export class LogFilterQueryDto extends DateRangeQueryDto {
  @EnumField(REQUEST_STATUSES, {
    optional: true,
    description:
      '`success` includes requests whose caller disconnected before the end of the answer.',
  })
  status?: RequestStatus;

  @Exactly('model alias')
  model?: string;

  @Exactly('provider')
  provider?: string;

  @Exactly('call type')
  endpoint?: string;

  @Exactly('end user')
  end_user?: string;

  @Transform(({ value }: { value: unknown }) => (typeof value === 'string' ? [value] : value))
  @StringListField({
    optional: true,
    maxItems: 10,
    description: 'A tag such as `team=search`. With several tags, requests must have all of them.',
  })
  tag?: string[];

  // The service rejects ids that are not UUIDs: for a tenant they are unknown keys.
  @StringField({
    optional: true,
    format: 'uuid',
    description: 'Id of an API key.',
    message: 'must be a single id',
  })
  api_key_id?: string;
}

/** Adds filters by charge, which only rows know. */
export class LogRowFilterQueryDto extends LogFilterQueryDto {
  @Credits('least')
  min_cost?: number;

  @Credits('most')
  max_cost?: number;
}

/** New rows of the log since the last query. */
export class NewerLogsQueryDto extends LogRowFilterQueryDto {
  @StringField({
    default: '0',
    description: 'The `id` of a row, or 0. Only the last 100,000 requests are searched.',
    pattern: /^\d{1,15}$/,
    message: 'must be the id of a row',
  })
  since_id: string = '0';

  @PageLimit({ default: 50, maximum: 200, description: 'Rows in the answer.' })
  limit: number = 50;
}

/** Limits of groups in an answer. */
export const GROUP_LIMIT = { default: 1_000, maximum: 10_000 };

/**
 * Parses the filters.
 *
 * @throws InvalidRequestError on a malformed date, tag or key id
 */
export function readLogFilters(query: LogRowFilterQueryDto): RequestLogFilters {
  const { status, model, provider, endpoint, end_user: endUser, api_key_id: apiKeyId } = query;
  if (apiKeyId !== undefined && !isUuid(apiKeyId)) {
    throw new InvalidRequestError('api_key_id', '`api_key_id` must be the id of a key.');
  }
  const tags = query.tag && Object.fromEntries(query.tag.map(parseTagFilter));
  const range = parseDateRange(query.start_date, query.end_date);
  const { min_cost: minCost, max_cost: maxCost } = query;
  const money = { minCost, maxCost };
  return { status, model, provider, endpoint, endUser, apiKeyId, tags, ...money, ...range };
}
