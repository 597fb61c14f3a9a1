import { ApiPropertyOptional, ApiProperty } from '@nestjs/swagger';
import { IsIn, IsNotEmpty, IsOptional, IsString } from 'class-validator';
import { DateRangeQueryDto } from '../../platform/http/date-range.js';
import { PageLimit, PageOffset } from '../../platform/http/field.decorators.js';
import { JOB_MODALITIES, JOB_STATUSES, type JobModality, type JobStatus } from './job.js';

export class JobFileDto {
  @ApiProperty({
    description: 'Signed URL, valid until `expires_at` and generated on each read.',
    example: 'https://gateway.example/v1/artifacts/img_…?expires=…&signature=…',
  })
  url!: string;

  @ApiProperty({ example: 'image/png' })
  content_type!: string;

  @ApiProperty({ type: 'integer', example: 48_213 })
  bytes!: number;
}

class JobResultDto {
  @ApiProperty({ type: [JobFileDto] })
  data!: JobFileDto[];
}

class JobErrorDto {
  @ApiProperty({ example: 'provider_error' })
  code!: string;

  @ApiProperty({ example: 'No provider could answer; tried one for one/image (failed).' })
  message!: string;
}

/** Tokens of an image request by type. */
export class ImageTokensDetailsDto {
  @ApiProperty({ type: 'integer' })
  text_tokens!: number;

  @ApiProperty({ type: 'integer', description: 'Tokens of input images.' })
  image_tokens!: number;
}

class JobUsageDto {
  @ApiPropertyOptional({ type: 'integer', description: 'Image jobs.', example: 1 })
  image_count?: number;

  @ApiPropertyOptional({ type: 'integer', description: 'Image jobs billed by tokens.' })
  input_tokens?: number;

  @ApiPropertyOptional({ type: ImageTokensDetailsDto })
  input_tokens_details?: ImageTokensDetailsDto;

  @ApiPropertyOptional({ type: 'integer', description: 'Image jobs billed by tokens.' })
  output_tokens?: number;

  @ApiPropertyOptional({ type: 'integer', description: 'Image jobs billed by tokens.' })
  total_tokens?: number;

  @ApiPropertyOptional({ type: 'number', description: 'Video jobs.' })
  video_seconds?: number;

  @ApiPropertyOptional({ type: 'integer', description: 'Speech jobs: code points.' })
  input_characters?: number;

  @ApiPropertyOptional({ type: 'integer', description: 'Speech jobs: UTF-8 bytes.' })
  input_bytes?: number;

  @ApiPropertyOptional({ type: 'number', description: 'Speech jobs.' })
  audio_seconds?: number;
}

/** A job, as its tenant sees it. */
export class JobDto {
  @ApiProperty({ example: 'img_3f8c1d0b6a5e4f7a9c2d1e0f8b7a6c5d4e3f' })
  id!: string;

  @ApiProperty({ enum: JOB_MODALITIES.map((modality) => `${modality}_job`) })
  object!: string;

  @ApiProperty({ enum: JOB_STATUSES })
  status!: JobStatus;

  @ApiProperty({ description: 'Model alias of the request.', example: 'sandbox/image' })
  model!: string;

  @ApiProperty({ type: String, nullable: true, description: 'Null while queued.' })
  provider!: string | null;

  @ApiProperty({ enum: JOB_MODALITIES })
  modality!: JobModality;

  @ApiProperty({ type: 'integer', description: 'Unix seconds.', example: 1_763_733_600 })
  created_at!: number;

  @ApiProperty({ type: 'integer', nullable: true, description: 'Unix seconds.' })
  completed_at!: number | null;

  @ApiProperty({
    type: 'integer',
    nullable: true,
    description: 'Unix seconds after which the URLs answer 410.',
  })
  expires_at!: number | null;

  @ApiProperty({
    type: JobResultDto,
    nullable: true,
    description: 'Set once the job has succeeded.',
  })
  result!: JobResultDto | null;

  @ApiProperty({ type: JobErrorDto, nullable: true, description: 'Set when the job has failed.' })
  error!: JobErrorDto | null;

  @ApiProperty({ type: JobUsageDto, nullable: true, description: 'Billed usage.' })
  usage!: JobUsageDto | null;

  @ApiProperty({
    type: 'object',
    nullable: true,
    additionalProperties: { type: 'string' },
    description: 'Metadata of the request.',
  })
  metadata!: Record<string, string> | null;
}

class JobListItemDto {
  @ApiProperty({ example: 'img_3f8c1d0b6a5e4f7a9c2d1e0f8b7a6c5d4e3f' })
  id!: string;

  @ApiProperty({ enum: JOB_MODALITIES })
  modality!: JobModality;

  @ApiProperty({ example: 'sandbox/image' })
  model!: string;

  @ApiProperty({ enum: JOB_STATUSES })
  status!: JobStatus;

  @ApiProperty({ type: String, format: 'date-time' })
  created_at!: string;

  @ApiProperty({
    type: 'integer',
    description: 'Credits charged: 0 until the job succeeds and after a refund.',
  })
  actual_cost!: number;

  @ApiProperty({ type: 'integer', description: 'Credits reserved at submission.' })
  reserved_credits!: number;

  @ApiProperty({ type: String, nullable: true })
  error_message!: string | null;

  @ApiProperty({
    type: String,
    format: 'date-time',
    description: 'Expiry of the files; before success, the deadline of the job.',
  })
  expires_at!: string;
}

class JobPaginationDto {
  @ApiProperty({ type: 'integer', example: 0 })
  offset!: number;

  @ApiProperty({ type: 'integer', example: 50 })
  limit!: number;

  @ApiProperty({ description: 'Whether more jobs follow this page.' })
  has_more!: boolean;
}

export class JobListDto {
  @ApiProperty({ type: [JobListItemDto], description: 'Newest first.' })
  jobs!: JobListItemDto[];

  @ApiProperty({ type: JobPaginationDto })
  pagination!: JobPaginationDto;
}

const DEFAULT_LIMIT = 50;

const MAX_LIMIT = 200;

/** Filters and page of the job list. Filters are combined with AND. */
export class JobsQueryDto extends DateRangeQueryDto {
  @ApiPropertyOptional({ enum: JOB_MODALITIES })
  @IsOptional()
  @IsIn(JOB_MODALITIES, { message: `modality must be one of ${JOB_MODALITIES.join(', ')}` })
  modality?: JobModality;

  @ApiPropertyOptional({ enum: JOB_STATUSES })
  @IsOptional()
  @IsIn(JOB_STATUSES, { message: `status must be one of ${JOB_STATUSES.join(', ')}` })
  status?: JobStatus;

  // No example: Swagger UI would fill it in and filter out most jobs.
  @ApiPropertyOptional({
    minLength: 1,
    description: 'Exact model alias, such as `sandbox/image`.',
  })
  @IsOptional()
  @IsString({ message: 'model must be one model alias' })
  @IsNotEmpty({ message: 'model must be one model alias' })
  model?: string;

  @PageLimit({ default: DEFAULT_LIMIT, maximum: MAX_LIMIT, description: 'Jobs per page.' })
  limit: number = DEFAULT_LIMIT;

  @PageOffset('Jobs')
  offset: number = 0;
}
