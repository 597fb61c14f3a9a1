import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsOptional, IsString } from 'class-validator';
import { LogRowDto } from '../../../core/ledger/request-log/log-row.dto.js';
import { LogRowFilterQueryDto } from '../../../core/ledger/request-log/log-query.dto.js';
import { PageLimit, PageOffset } from '../../../platform/http/field.decorators.js';

class LogPaginationDto {
  @ApiProperty({ type: 'integer', description: 'Rows that match, on all pages.', example: 1042 })
  total!: number;

  @ApiProperty({
    description:
      'False: older rows may match besides, and be on later pages. With `min_cost` or `max_cost`, and with `tag` or `end_user` where analytics have an `is_rest`, 200,000 rows are looked at for a page, which may have fewer rows than the limit.',
    example: true,
  })
  total_is_exact!: boolean;

  @ApiProperty({ type: 'integer', description: 'The limit that was applied.', example: 50 })
  limit!: number;

  @ApiProperty({ type: 'integer', example: 0 })
  offset!: number;

  @ApiProperty({ description: 'Whether rows follow this page.', example: true })
  has_more!: boolean;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'What to send as `cursor` for the next page; null on the last one.',
    example: null,
  })
  next_cursor!: string | null;
}

export class LogListDto {
  @ApiProperty({ type: [LogRowDto], description: 'Newest first.' })
  logs!: LogRowDto[];

  @ApiProperty({ type: LogPaginationDto })
  pagination!: LogPaginationDto;
}

/** Which part of the request log is exported. */
export class LogsExportQueryDto extends LogRowFilterQueryDto {}

const DEFAULT_LIMIT = 50;

/** A larger `limit` is taken for this one. */
export const MAX_LIMIT = 100;

/** Which part of the request log is asked for. Filters add up. */
export class LogsQueryDto extends LogRowFilterQueryDto {
  @PageLimit({
    default: DEFAULT_LIMIT,
    description: `Rows per page; more than ${MAX_LIMIT} is taken for ${MAX_LIMIT}.`,
  })
  limit: number = DEFAULT_LIMIT;

  @PageOffset('Rows')
  offset: number = 0;

  @ApiPropertyOptional({
    description:
      'The `next_cursor` of the page before, with the same filters. Pages do not shift by it as new requests come, as they do by `offset`, which counts from there if both are sent.',
  })
  @IsOptional()
  @IsString({ message: 'cursor must be one cursor' })
  cursor?: string;
}
