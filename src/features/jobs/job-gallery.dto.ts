import { ApiProperty, IntersectionType, OmitType, PickType } from '@nestjs/swagger';
import { CursorPageDto, CursorPageQueryDto } from '../../platform/http/cursor-page.js';
import { JobDto, JobFileDto, JobsQueryDto } from './jobs.dto.js';

/** Which jobs are looked at, and which page of them. */
export class JobGalleryQueryDto extends IntersectionType(
  PickType(JobsQueryDto, ['modality', 'status', 'model', 'start_date', 'end_date']),
  CursorPageQueryDto,
) {}

class GalleryFileDto extends OmitType(JobFileDto, ['url']) {
  @ApiProperty({
    type: String,
    nullable: true,
    description:
      'Needs no key; good until `expires_at`. Made anew at each reading. Null for operators.',
    example: 'https://gateway.example/v1/artifacts/img_…?expires=…&signature=…',
  })
  url!: string | null;
}

class GalleryResultDto {
  @ApiProperty({ type: [GalleryFileDto] })
  data!: GalleryFileDto[];
}

/** A job with what it has made, its request and its credits. */
export class GalleryJobDto extends OmitType(JobDto, ['result']) {
  @ApiProperty({ type: GalleryResultDto, nullable: true, description: 'Once it has succeeded.' })
  result!: GalleryResultDto | null;

  @ApiProperty({ format: 'uuid', description: 'Of its row in the log, and of its receipt.' })
  request_id!: string;

  @ApiProperty({
    type: 'integer',
    description: 'Credits that are held for it while it is open, or were.',
  })
  reserved_credits!: number;

  @ApiProperty({
    type: 'integer',
    description: 'Credits charged: 0 until it has succeeded, and again when it was refunded.',
  })
  actual_cost!: number;

  @ApiProperty({
    type: 'integer',
    nullable: true,
    description: 'Unix seconds at which an open job is given up; null once it has ended.',
  })
  deadline_at!: number | null;
}

/** Jobs with what they have made. */
export class JobGalleryDto extends CursorPageDto {
  @ApiProperty({ type: [GalleryJobDto], description: 'Newest first.' })
  data!: GalleryJobDto[];
}
