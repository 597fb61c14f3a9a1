import { ApiPropertyOptional, ApiProperty } from '@nestjs/swagger';
import { IsIn, IsNotEmpty, IsOptional, IsString } from 'class-validator';
import { DateRangeQueryDto } from '../../../platform/http/date-range.js';
import { PageLimit, PageOffset } from '../../../platform/http/field.decorators.js';
import { LogRowDto } from '../../../core/ledger/request-log/log-row.dto.js';
import {
  REQUEST_STATUSES,
  type RequestStatus,
} from '../../../core/ledger/request-log/request-log-row.js';

class LogPaginationDto {
  @ApiProperty({ type: 'integer', description: 'Rows that match, on all pages.', example: 1042 })
  total!: number;

  @ApiProperty({ type: 'integer', description: 'The limit that was applied.', example: 50 })
  limit!: number;

  @ApiProperty({ type: 'integer', example: 0 })
  offset!: number;

  @ApiProperty({ description: 'Whether rows follow this page.', example: true })
  has_more!: boolean;
}

export class LogListDto {
  @ApiProperty({ type: [LogRowDto], description: 'Newest first.' })
  logs!: LogRowDto[];

  @ApiProperty({ type: LogPaginationDto })
  pagination!: LogPaginationDto;
}

/** Which part of the request log is exported. */
export class LogsExportQueryDto extends DateRangeQueryDto {}

const DEFAULT_LIMIT = 50;

/** A larger `limit` is taken for this one. */
export const MAX_LIMIT = 100;

/** Which part of the request log is asked for. Filters add up. */
export class LogsQueryDto extends DateRangeQueryDto {
  @PageLimit({
    default: DEFAULT_LIMIT,
    description: `Rows per page; more than ${MAX_LIMIT} is taken for ${MAX_LIMIT}.`,
  })
  limit: number = DEFAULT_LIMIT;

  @PageOffset('Rows')
  offset: number = 0;

  @ApiPropertyOptional({
    enum: REQUEST_STATUSES,
    description: '`success` includes requests whose caller left before the end of the answer.',
  })
  @IsOptional()
  @IsIn(REQUEST_STATUSES, { message: `status must be ${REQUEST_STATUSES.join(' or ')}` })
  status?: RequestStatus;

  // Filters have no example: Swagger UI would fill it in and leave nothing of most logs.
  @ApiPropertyOptional({
    minLength: 1,
    description: 'Exactly this model alias, as `openai/gpt-4o-mini`.',
  })
  @IsOptional()
  @IsString({ message: 'model must be one model alias' })
  @IsNotEmpty({ message: 'model must be one model alias' })
  model?: string;

  @ApiPropertyOptional({ format: 'uuid', description: "One of the tenant's API keys, by its id." })
  @IsOptional()
  @IsString({ message: 'api_key_id must be one id' })
  api_key_id?: string;
}
