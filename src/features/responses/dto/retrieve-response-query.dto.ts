import { ApiHideProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsIn, IsOptional } from 'class-validator';

/** What SDKs may add to a retrieval. */
export class RetrieveResponseQueryDto {
  @ApiPropertyOptional({ type: [String], description: 'Without effect.' })
  @IsOptional()
  include?: unknown;

  /** The same, as SDKs spell lists. */
  @ApiHideProperty()
  @IsOptional()
  'include[]'?: unknown;

  @ApiPropertyOptional({ enum: ['false'], description: 'Stored responses are not streamed.' })
  @IsOptional()
  @IsIn(['false'], { message: 'stream must be false: stored responses are not streamed' })
  stream?: string;

  @ApiPropertyOptional({ description: 'Without effect.' })
  @IsOptional()
  include_obfuscation?: unknown;
}
