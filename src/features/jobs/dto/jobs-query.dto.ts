import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsIn, IsNotEmpty, IsOptional, IsString } from 'class-validator';
import { DateRangeQueryDto } from '../../../platform/http/date-range.js';
import { PageLimit, PageOffset } from '../../../platform/http/field.decorators.js';
import { JOB_MODALITIES, JOB_STATUSES, type JobModality, type JobStatus } from '../job.js';

const DEFAULT_LIMIT = 50;
const MAX_LIMIT = 200;

/** Which part of the tenant's jobs is asked for. Filters add up. */
export class JobsQueryDto extends DateRangeQueryDto {
  @ApiPropertyOptional({ enum: JOB_MODALITIES })
  @IsOptional()
  @IsIn(JOB_MODALITIES, { message: `modality must be one of ${JOB_MODALITIES.join(', ')}` })
  modality?: JobModality;

  @ApiPropertyOptional({ enum: JOB_STATUSES })
  @IsOptional()
  @IsIn(JOB_STATUSES, { message: `status must be one of ${JOB_STATUSES.join(', ')}` })
  status?: JobStatus;

  // Filters have no example: Swagger UI would fill it in and leave nothing of most lists.
  @ApiPropertyOptional({ description: 'Exactly this model alias, as `sandbox/image`.' })
  @IsOptional()
  @IsString({ message: 'model must be one model alias' })
  @IsNotEmpty({ message: 'model must be one model alias' })
  model?: string;

  @PageLimit({ default: DEFAULT_LIMIT, maximum: MAX_LIMIT, description: 'Jobs per page.' })
  limit: number = DEFAULT_LIMIT;

  @PageOffset('Jobs')
  offset: number = 0;
}
