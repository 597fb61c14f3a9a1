import { IntersectionType, OmitType, PickType } from '@nestjs/swagger';
import { CursorPageDto, CursorPageQueryDto } from '../../platform/http/cursor-page.js';
import { IntegerField, StringField, UuidField } from '../../platform/http/field.decorators.js';
import { ObjectField, ObjectListField } from '../../platform/http/nested-field.decorators.js';
import { JobDto, JobFileDto, JobsQueryDto } from './jobs.dto.js';

/** Filters and cursor of the gallery. */
export class JobGalleryQueryDto extends IntersectionType(
  PickType(JobsQueryDto, ['modality', 'status', 'model', 'start_date', 'end_date']),
  CursorPageQueryDto,
) {}

class GalleryFileDto extends OmitType(JobFileDto, ['url']) {
  @StringField({
    nullable: true,
    description:
      'Signed URL, valid until `expires_at` and generated on each read. Null for operators.',
    example: 'https://gateway.example/v1/artifacts/img_…?expires=…&signature=…',
  })
  url!: string | null;
}

class GalleryResultDto {
  @ObjectListField(GalleryFileDto)
  data!: GalleryFileDto[];
}

/** A job with its files, request and credits. */
export class GalleryJobDto extends OmitType(JobDto, ['result']) {
  @ObjectField(GalleryResultDto, { nullable: true, description: 'Set once the job has succeeded.' })
  result!: GalleryResultDto | null;

  @UuidField({ description: 'Id of the log row and the receipt.' })
  request_id!: string;

  @IntegerField({ description: 'Credits reserved at submission.' })
  reserved_credits!: number;

  @IntegerField({ description: 'Credits charged: 0 until the job succeeds and after a refund.' })
  actual_cost!: number;

  @IntegerField({
    nullable: true,
    description: 'Unix seconds of the deadline; null once the job has ended.',
  })
  deadline_at!: number | null;
}

/** A page of the gallery. */
export class JobGalleryDto extends CursorPageDto {
  @ObjectListField(GalleryJobDto, { description: 'Newest first.' })
  data!: GalleryJobDto[];
}
