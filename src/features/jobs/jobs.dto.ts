import { ApiPropertyOptional, ApiProperty } from '@nestjs/swagger';
import { IsIn, IsNotEmpty, IsOptional, IsString } from 'class-validator';
import { DateRangeQueryDto } from '../../platform/http/date-range.js';
import { PageLimit, PageOffset } from '../../platform/http/field.decorators.js';
import { JOB_MODALITIES, JOB_STATUSES, type JobModality, type JobStatus } from './job.js';

export class JobFileDto {
  @ApiProperty({
    description: 'Needs no key; good until `expires_at`. Made anew at each reading.',
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

/** The tokens of a request for images, by what they are of. */
export class ImageTokensDetailsDto {
  @ApiProperty({ type: 'integer' })
  text_tokens!: number;

  @ApiProperty({ type: 'integer', description: 'Of pictures that were sent.' })
  image_tokens!: number;
}

class JobUsageDto {
  @ApiPropertyOptional({ type: 'integer', description: 'Of images.', example: 1 })
  image_count?: number;

  @ApiPropertyOptional({ type: 'integer', description: 'Of images that are billed by tokens.' })
  input_tokens?: number;

  @ApiPropertyOptional({ type: ImageTokensDetailsDto })
  input_tokens_details?: ImageTokensDetailsDto;

  @ApiPropertyOptional({ type: 'integer', description: 'Of images that are billed by tokens.' })
  output_tokens?: number;

  @ApiPropertyOptional({ type: 'integer', description: 'Of images that are billed by tokens.' })
  total_tokens?: number;

  @ApiPropertyOptional({ type: 'number', description: 'Of videos.' })
  video_seconds?: number;

  @ApiPropertyOptional({ type: 'integer', description: 'Of speech: code points.' })
  input_characters?: number;

  @ApiPropertyOptional({ type: 'integer', description: 'Of speech: the same in UTF-8 bytes.' })
  input_bytes?: number;

  @ApiPropertyOptional({ type: 'number', description: 'Of speech.' })
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

  @ApiProperty({ description: 'The alias that the job was made with.', example: 'sandbox/image' })
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
    description: 'Unix seconds after which the URLs of the result answer 410.',
  })
  expires_at!: number | null;

  @ApiProperty({ type: JobResultDto, nullable: true, description: 'Once it has succeeded.' })
  result!: JobResultDto | null;

  @ApiProperty({ type: JobErrorDto, nullable: true, description: 'When it has failed.' })
  error!: JobErrorDto | null;

  @ApiProperty({ type: JobUsageDto, nullable: true, description: 'What was billed.' })
  usage!: JobUsageDto | null;

  @ApiProperty({
    type: 'object',
    nullable: true,
    additionalProperties: { type: 'string' },
    description: 'As it was given at the submission.',
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
    description: 'Credits charged: 0 until it has succeeded, and again when it was refunded.',
  })
  actual_cost!: number;

  @ApiProperty({ type: 'integer', description: 'Credits set aside at the submission.' })
  reserved_credits!: number;

  @ApiProperty({ type: String, nullable: true })
  error_message!: string | null;

  @ApiProperty({
    type: String,
    format: 'date-time',
    description: 'When its files expire; until it has succeeded, its deadline.',
  })
  expires_at!: string;
}

class JobPaginationDto {
  @ApiProperty({ type: 'integer', example: 0 })
  offset!: number;

  @ApiProperty({ type: 'integer', example: 50 })
  limit!: number;

  @ApiProperty({ description: 'Whether jobs follow this page.' })
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
  @ApiPropertyOptional({
    minLength: 1,
    description: 'Exactly this model alias, as `sandbox/image`.',
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
