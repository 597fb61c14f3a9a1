import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsIn, IsInt, IsNotEmpty, IsOptional, IsString, Max, Min } from 'class-validator';
import { QueryInteger } from '../../common/http/query-integer.decorator.js';
import { JOB_MODALITIES, JOB_STATUSES, type JobModality, type JobStatus } from '../job.js';

const DEFAULT_LIMIT = 50;
const MAX_LIMIT = 200;

const LIMIT_MESSAGE = `limit must be an integer from 1 to ${MAX_LIMIT}`;
/** PostgreSQL counts no further than this, and no list is longer. */
const MAX_OFFSET = Number.MAX_SAFE_INTEGER;
const OFFSET_MESSAGE = `offset must be an integer from 0 to ${MAX_OFFSET}`;

/** Which part of the tenant's jobs is asked for. Filters add up. */
export class JobsQueryDto {
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

  @ApiPropertyOptional({
    type: 'integer',
    minimum: 1,
    maximum: MAX_LIMIT,
    default: DEFAULT_LIMIT,
    description: 'Jobs per page.',
  })
  @QueryInteger()
  @IsInt({ message: LIMIT_MESSAGE })
  @Min(1, { message: LIMIT_MESSAGE })
  @Max(MAX_LIMIT, { message: LIMIT_MESSAGE })
  limit: number = DEFAULT_LIMIT;

  @ApiPropertyOptional({
    type: 'integer',
    minimum: 0,
    default: 0,
    description: 'Jobs to leave out, counted from the newest.',
  })
  @QueryInteger()
  @IsInt({ message: OFFSET_MESSAGE })
  @Min(0, { message: OFFSET_MESSAGE })
  @Max(MAX_OFFSET, { message: OFFSET_MESSAGE })
  offset: number = 0;
}
