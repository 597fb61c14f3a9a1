import { ApiHideProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsIn, IsOptional, IsString } from 'class-validator';
import { PageLimit } from '../../platform/http/field.decorators.js';

/** Accepted because SDKs send it; there is nothing to include. */
export class IncludeQueryDto {
  @ApiPropertyOptional({ type: [String], description: 'Ignored.' })
  @IsOptional()
  include?: unknown;

  /** The list syntax that SDKs use. */
  @ApiHideProperty()
  @IsOptional()
  'include[]'?: unknown;
}

/** Query parameters that SDKs add to a retrieval. */
export class RetrieveResponseQueryDto extends IncludeQueryDto {
  @ApiPropertyOptional({ enum: ['false'], description: 'Stored responses are not streamed.' })
  @IsOptional()
  @IsIn(['false'], { message: 'stream must be false: stored responses are not streamed' })
  stream?: string;

  @ApiPropertyOptional({ type: String, description: 'Ignored.' })
  @IsOptional()
  include_obfuscation?: unknown;
}

const DEFAULT_LIMIT = 20;

const MAX_LIMIT = 100;

/** Page of input items. */
export class InputItemsQueryDto extends IncludeQueryDto {
  @PageLimit({ default: DEFAULT_LIMIT, maximum: MAX_LIMIT })
  limit: number = DEFAULT_LIMIT;

  @ApiPropertyOptional({ enum: ['asc', 'desc'], default: 'desc' })
  @IsIn(['asc', 'desc'], { message: 'order must be asc or desc' })
  order: 'asc' | 'desc' = 'desc';

  @ApiPropertyOptional({ description: 'Return items after this id.' })
  @IsOptional()
  @IsString({ message: 'after must be one id' })
  after?: string;
}
