import { ApiProperty, IntersectionType, OmitType, PickType } from '@nestjs/swagger';
import { CursorPageDto, CursorPageQueryDto } from '../../platform/http/cursor-page.js';
import { JobDto, JobFileDto, JobsQueryDto } from './jobs.dto.js';

/** Filters and cursor of the gallery. */
export class JobGalleryQueryDto extends IntersectionType(
  PickType(JobsQueryDto, ['modality', 'status', 'model', 'start_date', 'end_date']),
  CursorPageQueryDto,
) {}

class GalleryFileDto extends OmitType(JobFileDto, ['url']) {
  @ApiProperty({
    type: String,
    nullable: true,
    description:
      'Signed URL, valid until `expires_at` and generated on each read. Null for operators.',
    example: 'https://gateway.example/v1/artifacts/img_…?expires=…&signature=…',
  })
  url!: string | null;
}

class GalleryResultDto {
  @ApiProperty({ type: [GalleryFileDto] })
  data!: GalleryFileDto[];
}

/** A job with its files, request and credits. */
export class GalleryJobDto extends OmitType(JobDto, ['result']) {
  @ApiProperty({
    type: GalleryResultDto,
    nullable: true,
    description: 'Set once the job has succeeded.',
  })
  result!: GalleryResultDto | null;

  @ApiProperty({ format: 'uuid', description: 'Id of the log row and the receipt.' })
  request_id!: string;

  @ApiProperty({
    type: 'integer',
    description: 'Credits reserved at submission.',
  })
  reserved_credits!: number;

  @ApiProperty({
    type: 'integer',
    description: 'Credits charged: 0 until the job succeeds and after a refund.',
  })
  actual_cost!: number;

  @ApiProperty({
    type: 'integer',
    nullable: true,
    description: 'Unix seconds of the deadline; null once the job has ended.',
  })
  deadline_at!: number | null;
}

/** A page of the gallery. */
export class JobGalleryDto extends CursorPageDto {
  @ApiProperty({ type: [GalleryJobDto], description: 'Newest first.' })
  data!: GalleryJobDto[];
}
