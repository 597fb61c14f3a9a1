import { ApiProperty } from '@nestjs/swagger';
import { LogRowDto } from '../../../core/ledger/request-log/log-row.dto.js';
import { LogRowFilterQueryDto } from '../../../core/ledger/request-log/log-query.dto.js';
import { PageLimit, PageOffset } from '../../../platform/http/field.decorators.js';

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
}
