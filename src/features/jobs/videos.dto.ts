import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsIn, IsOptional, IsString } from 'class-validator';
import { PageLimit } from '../../platform/http/field.decorators.js';

class VideoErrorDto {
  @ApiProperty({ example: 'provider_error' })
  code!: string;

  @ApiProperty()
  message!: string;
}

/** A video job in the videos API's shape. */
export class VideoDto {
  @ApiProperty({ example: 'vid_3f8c1d0b6a5e4f7a9c2d1e0f8b7a6c5d4e3f' })
  id!: string;

  @ApiProperty({ enum: ['video'] })
  object!: string;

  @ApiProperty({ enum: ['queued', 'in_progress', 'completed', 'failed'] })
  status!: string;

  @ApiProperty({
    type: 'integer',
    description: '0 while queued, 50 while running, 100 when complete.',
  })
  progress!: number;

  @ApiProperty({ example: 'sandbox/video' })
  model!: string;

  @ApiProperty({ type: 'integer', description: 'Unix seconds.' })
  created_at!: number;

  @ApiProperty({ type: 'integer', nullable: true, description: 'Unix seconds.' })
  completed_at!: number | null;

  @ApiProperty({ type: 'integer', nullable: true, description: 'Unix seconds.' })
  expires_at!: number | null;

  @ApiProperty({ type: String, nullable: true })
  prompt!: string | null;

  @ApiProperty({ type: String, nullable: true, example: '4' })
  seconds!: string | null;

  @ApiProperty({ type: String, nullable: true, example: '1280x720' })
  size!: string | null;

  @ApiProperty({ type: String, nullable: true, description: 'Always null.' })
  remixed_from_video_id!: string | null;

  @ApiProperty({ type: VideoErrorDto, nullable: true })
  error!: VideoErrorDto | null;
}

export class VideoListDto {
  @ApiProperty({ enum: ['list'] })
  object!: string;

  @ApiProperty({ type: [VideoDto] })
  data!: VideoDto[];

  @ApiProperty({ type: String, nullable: true })
  first_id!: string | null;

  @ApiProperty({ type: String, nullable: true })
  last_id!: string | null;

  @ApiProperty()
  has_more!: boolean;
}

const DEFAULT_LIMIT = 20;

const MAX_LIMIT = 100;

/** Page of the video list. */
export class VideosQueryDto {
  @PageLimit({ default: DEFAULT_LIMIT, maximum: MAX_LIMIT })
  limit: number = DEFAULT_LIMIT;

  @ApiPropertyOptional({ enum: ['asc', 'desc'], default: 'desc' })
  @IsIn(['asc', 'desc'], { message: 'order must be asc or desc' })
  order: 'asc' | 'desc' = 'desc';

  @ApiPropertyOptional({ description: 'Return videos after this id.' })
  @IsOptional()
  @IsString({ message: 'after must be one id' })
  after?: string;
}
