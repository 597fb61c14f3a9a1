import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsIn, IsInt, IsNotEmpty, IsOptional, IsString, Max, Min } from 'class-validator';
import { QueryInteger } from '../../../common/http/query-integer.decorator.js';
import { REQUEST_STATUSES, type RequestStatus } from '../../../request-log/request-log-row.js';

const DEFAULT_LIMIT = 50;
/** A larger `limit` is taken for this one. */
export const MAX_LIMIT = 100;

const LIMIT_MESSAGE = 'limit must be an integer of 1 or more';
const OFFSET_MESSAGE = `offset must be an integer from 0 to ${Number.MAX_SAFE_INTEGER}`;

/** Which part of the request log is asked for. Filters add up. */
export class LogsQueryDto {
  @ApiPropertyOptional({
    type: 'integer',
    minimum: 1,
    default: DEFAULT_LIMIT,
    description: `Rows per page; more than ${MAX_LIMIT} is taken for ${MAX_LIMIT}.`,
  })
  @QueryInteger()
  @IsInt({ message: LIMIT_MESSAGE })
  @Min(1, { message: LIMIT_MESSAGE })
  limit: number = DEFAULT_LIMIT;

  @ApiPropertyOptional({
    type: 'integer',
    minimum: 0,
    default: 0,
    description: 'Rows to leave out, counted from the newest.',
  })
  @QueryInteger()
  @IsInt({ message: OFFSET_MESSAGE })
  @Min(0, { message: OFFSET_MESSAGE })
  @Max(Number.MAX_SAFE_INTEGER, { message: OFFSET_MESSAGE })
  offset: number = 0;

  @ApiPropertyOptional({
    enum: REQUEST_STATUSES,
    description: '`success` includes requests whose caller left before the end of the answer.',
  })
  @IsOptional()
  @IsIn(REQUEST_STATUSES, { message: `status must be ${REQUEST_STATUSES.join(' or ')}` })
  status?: RequestStatus;

  // Filters have no example: Swagger UI would fill it in and leave nothing of most logs.
  @ApiPropertyOptional({ description: 'Exactly this model alias, as `openai/gpt-4o-mini`.' })
  @IsOptional()
  @IsString({ message: 'model must be one model alias' })
  @IsNotEmpty({ message: 'model must be one model alias' })
  model?: string;

  @ApiPropertyOptional({
    description: 'The first day or instant, as `YYYY-MM-DD` or ISO 8601; UTC without an offset.',
  })
  @IsOptional()
  @IsString({ message: 'start_date must be one date' })
  start_date?: string;

  @ApiPropertyOptional({
    description:
      'The last day or instant, itself included, as `YYYY-MM-DD` or ISO 8601; UTC without an offset.',
  })
  @IsOptional()
  @IsString({ message: 'end_date must be one date' })
  end_date?: string;

  @ApiPropertyOptional({ format: 'uuid', description: "One of the tenant's API keys, by its id." })
  @IsOptional()
  @IsString({ message: 'api_key_id must be one id' })
  api_key_id?: string;
}
