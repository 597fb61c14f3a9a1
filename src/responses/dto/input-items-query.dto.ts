import { ApiHideProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsIn, IsInt, IsOptional, IsString, Max, Min } from 'class-validator';
import { QueryInteger } from '../../common/http/query-integer.decorator.js';

const MAX_LIMIT = 100;
const LIMIT_MESSAGE = `limit must be an integer from 1 to ${MAX_LIMIT}`;

/** Which input items are asked for. */
export class InputItemsQueryDto {
  @ApiPropertyOptional({ type: 'integer', minimum: 1, maximum: MAX_LIMIT, default: 20 })
  @QueryInteger()
  @IsInt({ message: LIMIT_MESSAGE })
  @Min(1, { message: LIMIT_MESSAGE })
  @Max(MAX_LIMIT, { message: LIMIT_MESSAGE })
  limit: number = 20;

  @ApiPropertyOptional({ enum: ['asc', 'desc'], default: 'desc' })
  @IsIn(['asc', 'desc'], { message: 'order must be asc or desc' })
  order: 'asc' | 'desc' = 'desc';

  @ApiPropertyOptional({ description: 'The id of the item before the first one wanted.' })
  @IsOptional()
  @IsString({ message: 'after must be one id' })
  after?: string;

  /** SDKs send it; there is nothing that it could add. */
  @ApiPropertyOptional({ type: [String], description: 'Without effect.' })
  @IsOptional()
  include?: unknown;

  /** The same, as SDKs spell lists. */
  @ApiHideProperty()
  @IsOptional()
  'include[]'?: unknown;
}
