import {
  BooleanField,
  DateTimeField,
  EnumField,
  IntegerField,
  MapField,
  NumberField,
  StringField,
} from '../../platform/http/field.decorators.js';
import { ObjectField, ObjectListField } from '../../platform/http/nested-field.decorators.js';
import { PageLimit, PageOffset } from '../../platform/http/cursor-page.js';
import { DateRangeQueryDto } from '../../platform/http/date-range.js';
import { JOB_MODALITIES, JOB_STATUSES, type JobModality, type JobStatus } from './job.js';

export class JobFileDto {
  @StringField({
    description: 'Signed URL, valid until `expires_at` and generated on each read.',
    example: 'https://gateway.example/v1/artifacts/img_…?expires=…&signature=…',
  })
  url!: string;

  @StringField({ example: 'image/png' })
  content_type!: string;

  @IntegerField({ example: 48_213 })
  bytes!: number;
}

class JobResultDto {
  @ObjectListField(JobFileDto)
  data!: JobFileDto[];
}

class JobErrorDto {
  @StringField({ example: 'provider_error' })
  code!: string;

  @StringField({ example: 'No provider could answer; tried one for one/image (failed).' })
  message!: string;
}

/** Tokens of an image request by type. */
export class ImageTokensDetailsDto {
  @IntegerField()
  text_tokens!: number;

  @IntegerField({ description: 'Tokens of input images.' })
  image_tokens!: number;
}

class JobUsageDto {
  @IntegerField({ optional: true, description: 'Image jobs.', example: 1 })
  image_count?: number;

  @IntegerField({ optional: true, description: 'Image jobs billed by tokens.' })
  input_tokens?: number;

  @ObjectField(ImageTokensDetailsDto, { optional: true })
  input_tokens_details?: ImageTokensDetailsDto;

  @IntegerField({ optional: true, description: 'Image jobs billed by tokens.' })
  output_tokens?: number;

  @IntegerField({ optional: true, description: 'Image jobs billed by tokens.' })
  total_tokens?: number;

  @NumberField({ optional: true, description: 'Video jobs.' })
  video_seconds?: number;

  @IntegerField({ optional: true, description: 'Speech jobs: code points.' })
  input_characters?: number;

  @IntegerField({ optional: true, description: 'Speech jobs: UTF-8 bytes.' })
  input_bytes?: number;

  @NumberField({ optional: true, description: 'Speech jobs.' })
  audio_seconds?: number;
}

/** A job, as its tenant sees it. */
export class JobDto {
  @StringField({ example: 'img_3f8c1d0b6a5e4f7a9c2d1e0f8b7a6c5d4e3f' })
  id!: string;

  @EnumField(JOB_MODALITIES.map((modality) => `${modality}_job`))
  object!: string;

  @EnumField(JOB_STATUSES)
  status!: JobStatus;

  @StringField({ description: 'Model alias of the request.', example: 'sandbox/image' })
  model!: string;

  @StringField({ nullable: true, description: 'Null while queued.' })
  provider!: string | null;

  @EnumField(JOB_MODALITIES)
  modality!: JobModality;

  @IntegerField({ description: 'Unix seconds.', example: 1_763_733_600 })
  created_at!: number;

  @IntegerField({ nullable: true, description: 'Unix seconds.' })
  completed_at!: number | null;

  @IntegerField({ nullable: true, description: 'Unix seconds after which the URLs answer 410.' })
  expires_at!: number | null;

  @ObjectField(JobResultDto, { nullable: true, description: 'Set once the job has succeeded.' })
  result!: JobResultDto | null;

  @ObjectField(JobErrorDto, { nullable: true, description: 'Set when the job has failed.' })
  error!: JobErrorDto | null;

  @ObjectField(JobUsageDto, { nullable: true, description: 'Billed usage.' })
  usage!: JobUsageDto | null;

  @MapField({ type: 'string' }, { nullable: true, description: 'Metadata of the request.' })
  metadata!: Record<string, string> | null;
}

class JobListItemDto {
  @StringField({ example: 'img_3f8c1d0b6a5e4f7a9c2d1e0f8b7a6c5d4e3f' })
  id!: string;

  @EnumField(JOB_MODALITIES)
  modality!: JobModality;

  @StringField({ example: 'sandbox/image' })
  model!: string;

  @EnumField(JOB_STATUSES)
  status!: JobStatus;

  @DateTimeField()
  created_at!: string;

  @IntegerField({ description: 'Credits charged: 0 until the job succeeds and after a refund.' })
  actual_cost!: number;

  @IntegerField({ description: 'Credits reserved at submission.' })
  reserved_credits!: number;

  @StringField({ nullable: true })
  error_message!: string | null;

  @DateTimeField({ description: 'Expiry of the files; before success, the deadline of the job.' })
  expires_at!: string;
}

class JobPaginationDto {
  @IntegerField({ example: 0 })
  offset!: number;

  @IntegerField({ example: 50 })
  limit!: number;

  @BooleanField({ description: 'Whether more jobs follow this page.' })
  has_more!: boolean;
}

export class JobListDto {
  @ObjectListField(JobListItemDto, { description: 'Newest first.' })
  jobs!: JobListItemDto[];

  @ObjectField(JobPaginationDto)
  pagination!: JobPaginationDto;
}

const DEFAULT_LIMIT = 50;

const MAX_LIMIT = 200;

/** Filters and page of the job list. Filters are combined with AND. */
export class JobsQueryDto extends DateRangeQueryDto {
  @EnumField(JOB_MODALITIES, { optional: true })
  modality?: JobModality;

  @EnumField(JOB_STATUSES, { optional: true })
  status?: JobStatus;

  // No example: Swagger UI would fill it in and filter out most jobs.
  @StringField({
    optional: true,
    minLength: 1,
    description: 'Exact model alias, such as `sandbox/image`.',
    message: 'must be one model alias',
  })
  model?: string;

  @PageLimit({ default: DEFAULT_LIMIT, maximum: MAX_LIMIT, description: 'Jobs per page.' })
  limit: number = DEFAULT_LIMIT;

  @PageOffset('Jobs')
  offset: number = 0;
}
