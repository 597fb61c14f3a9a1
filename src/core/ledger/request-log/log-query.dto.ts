import { ApiPropertyOptional } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { ArrayMaxSize, IsIn, IsNotEmpty, IsOptional, IsString } from 'class-validator';
import { parseTagFilter } from '../../../canonical/request-tags.js';
import { isUuid } from '../../../platform/database/stored-text.js';
import { InvalidRequestError } from '../../../platform/errors/gateway-errors.js';
import { DateRangeQueryDto, parseDateRange } from '../../../platform/http/date-range.js';
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

/** How many groups an answer has at most, of those that there are. */
export const GROUP_LIMIT = { default: 1_000, maximum: 10_000 };

/** @throws InvalidRequestError on a malformed date, tag or key id */
export function readLogFilters(query: LogFilterQueryDto): RequestLogFilters {
  const { status, model, provider, endpoint, end_user: endUser, api_key_id: apiKeyId } = query;
  if (apiKeyId !== undefined && !isUuid(apiKeyId)) {
    throw new InvalidRequestError('api_key_id', 'api_key_id must be the id of a key.');
  }
  const tags = query.tag && Object.fromEntries(query.tag.map(parseTagFilter));
  const range = parseDateRange(query.start_date, query.end_date);
  return { status, model, provider, endpoint, endUser, apiKeyId, tags, ...range };
}
