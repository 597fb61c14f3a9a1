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

/** One text, which is not empty. Filters have no example: Swagger UI would fill it in and leave nothing. */
function Exactly(name: string, what: string): PropertyDecorator {
  const message = `${name} must be one ${what}`;
  return (target, key) => {
    ApiPropertyOptional({ minLength: 1, description: `Exactly this ${what}.` })(target, key);
    IsOptional()(target, key);
    IsString({ message })(target, key);
    IsNotEmpty({ message })(target, key);
  };
}

function Credits(name: string, which: 'least' | 'most'): PropertyDecorator {
  const message = `${name} must be a whole number of credits`;
  return (target, key) => {
    ApiPropertyOptional({
      type: 'integer',
      minimum: 0,
      description: `Charged at ${which} so many credits.`,
    })(target, key);
    IsOptional()(target, key);
    QueryInteger()(target, key);
    IsInt({ message })(target, key);
    Min(0, { message })(target, key);
    Max(Number.MAX_SAFE_INTEGER, { message })(target, key);
  };
}

/** Which requests are asked for. Filters add up. */
export class LogFilterQueryDto extends DateRangeQueryDto {
  @ApiPropertyOptional({
    enum: REQUEST_STATUSES,
    description: '`success` includes requests whose caller left before the end of the answer.',
  })
  @IsOptional()
  @IsIn(REQUEST_STATUSES, { message: `status must be ${REQUEST_STATUSES.join(' or ')}` })
  status?: RequestStatus;

  @Exactly('model', 'model alias')
  model?: string;

  @Exactly('provider', 'provider')
  provider?: string;

  @Exactly('endpoint', 'kind of call')
  endpoint?: string;

  @Exactly('end_user', 'end user')
  end_user?: string;

  @ApiPropertyOptional({
    type: [String],
    description: 'A tag as `team=search`; of several, requests have all.',
  })
  @IsOptional()
  @Transform(({ value }: { value: unknown }) => (typeof value === 'string' ? [value] : value))
  @ArrayMaxSize(10, { message: 'tag may be there ten times' })
  @IsString({ each: true, message: 'tag must be a key and its value, as `team=search`' })
  tag?: string[];

  @ApiPropertyOptional({ format: 'uuid', description: 'An API key, by its id.' })
  @IsOptional()
  @IsString({ message: 'api_key_id must be one id' })
  api_key_id?: string;
}

/** The same, and by what was charged, which only rows know. */
export class LogRowFilterQueryDto extends LogFilterQueryDto {
  @Credits('min_cost', 'least')
  min_cost?: number;

  @Credits('max_cost', 'most')
  max_cost?: number;
}

/** What has come to the log since the last look. */
export class NewerLogsQueryDto extends LogRowFilterQueryDto {
  @ApiPropertyOptional({
    default: '0',
    description: 'The `id` of a row; 0: of any. The last 100,000 requests are looked at, no more.',
  })
  @IsOptional()
  @Matches(/^\d{1,15}$/, { message: 'since_id must be the id of a row' })
  since_id: string = '0';

  @PageLimit({ default: 50, maximum: 200, description: 'Rows in the answer.' })
  limit: number = 50;
}

/** How many groups an answer has at most, of those that there are. */
export const GROUP_LIMIT = { default: 1_000, maximum: 10_000 };

/** @throws InvalidRequestError on a malformed date, tag or key id */
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
