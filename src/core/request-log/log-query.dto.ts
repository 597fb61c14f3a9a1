import { ApiPropertyOptional } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import {
  ArrayMaxSize,
  IsIn,
  IsInt,
  IsNotEmpty,
  IsOptional,
  IsString,
  Matches,
  Max,
  Min,
} from 'class-validator';
import { parseTagFilter } from '../../canonical/request-tags.js';
import { isUuid } from '../../platform/database/stored-text.js';
import { InvalidRequestError } from '../../platform/errors/gateway-errors.js';
import { DateRangeQueryDto, parseDateRange } from '../../platform/http/date-range.js';
import { PageLimit, QueryInteger } from '../../platform/http/field.decorators.js';
import type { RequestLogFilters } from './request-log-filters.js';
import { REQUEST_STATUSES, type RequestStatus } from './request-log-row.js';

/**
 * Declares a nonempty text filter. Without an example, because Swagger UI would fill it in and
 * match nothing.
 */
function Exactly(name: string, what: string): PropertyDecorator {
  const message = `${name} must be a single ${what}`;
  return (target, key) => {
    ApiPropertyOptional({ minLength: 1, description: `Matches this ${what} exactly.` })(
      target,
      key,
    );
    IsOptional()(target, key);
    IsString({ message })(target, key);
    IsNotEmpty({ message })(target, key);
  };
}

function Credits(name: string, which: 'least' | 'most'): PropertyDecorator {
  const message = `${name} must be an integer number of credits`;
  return (target, key) => {
    ApiPropertyOptional({
      type: 'integer',
      minimum: 0,
      description: `Charged at ${which} this many credits.`,
    })(target, key);
    IsOptional()(target, key);
    QueryInteger()(target, key);
    IsInt({ message })(target, key);
    Min(0, { message })(target, key);
    Max(Number.MAX_SAFE_INTEGER, { message })(target, key);
  };
}

/** Filters on requests; all must match. */
export class LogFilterQueryDto extends DateRangeQueryDto {
  @ApiPropertyOptional({
    enum: REQUEST_STATUSES,
    description:
      '`success` includes requests whose caller disconnected before the end of the answer.',
  })
  @IsOptional()
  @IsIn(REQUEST_STATUSES, { message: `status must be ${REQUEST_STATUSES.join(' or ')}` })
  status?: RequestStatus;

  @Exactly('model', 'model alias')
  model?: string;

  @Exactly('provider', 'provider')
  provider?: string;

  @Exactly('endpoint', 'call type')
  endpoint?: string;

  @Exactly('end_user', 'end user')
  end_user?: string;

  @ApiPropertyOptional({
    type: [String],
    description: 'A tag such as `team=search`. With several tags, requests must have all of them.',
  })
  @IsOptional()
  @Transform(({ value }: { value: unknown }) => (typeof value === 'string' ? [value] : value))
  @ArrayMaxSize(10, { message: 'tag may appear at most ten times' })
  @IsString({ each: true, message: 'tag must be a key and a value, such as `team=search`' })
  tag?: string[];

  @ApiPropertyOptional({ format: 'uuid', description: 'Id of an API key.' })
  @IsOptional()
  @IsString({ message: 'api_key_id must be a single id' })
  api_key_id?: string;
}

/** Adds filters by charge, which only rows know. */
export class LogRowFilterQueryDto extends LogFilterQueryDto {
  @Credits('min_cost', 'least')
  min_cost?: number;

  @Credits('max_cost', 'most')
  max_cost?: number;
}

/** New rows of the log since the last query. */
export class NewerLogsQueryDto extends LogRowFilterQueryDto {
  @ApiPropertyOptional({
    default: '0',
    description: 'The `id` of a row, or 0. Only the last 100,000 requests are searched.',
  })
  @IsOptional()
  @Matches(/^\d{1,15}$/, { message: 'since_id must be the id of a row' })
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
    throw new InvalidRequestError('api_key_id', 'api_key_id must be the id of a key.');
  }
  const tags = query.tag && Object.fromEntries(query.tag.map(parseTagFilter));
  const range = parseDateRange(query.start_date, query.end_date);
  const { min_cost: minCost, max_cost: maxCost } = query;
  const money = { minCost, maxCost };
  return { status, model, provider, endpoint, endUser, apiKeyId, tags, ...money, ...range };
}
