import {
  BooleanField,
  EnumField,
  IntegerField,
  StringField,
} from '../../platform/http/field.decorators.js';
import { ObjectField, ObjectListField } from '../../platform/http/nested-field.decorators.js';
import { PageLimit } from '../../platform/http/cursor-page.js';

class VideoErrorDto {
  @StringField({ example: 'provider_error' })
  code!: string;

  @StringField()
  message!: string;
}

/** A video job in the videos API's shape. */
export class VideoDto {
  @StringField({ example: 'vid_3f8c1d0b6a5e4f7a9c2d1e0f8b7a6c5d4e3f' })
  id!: string;

  @EnumField(['video'])
  object!: 'video';

  @EnumField(['queued', 'in_progress', 'completed', 'failed'])
  status!: 'queued' | 'in_progress' | 'completed' | 'failed';

  @IntegerField({ description: '0 while queued, 50 while running, 100 when complete.' })
  progress!: number;

  @StringField({ example: 'sandbox/video' })
  model!: string;

  @IntegerField({ description: 'Unix seconds.' })
  created_at!: number;

  @IntegerField({ nullable: true, description: 'Unix seconds.' })
  completed_at!: number | null;

  @IntegerField({ nullable: true, description: 'Unix seconds.' })
  expires_at!: number | null;

  @StringField({ nullable: true })
  prompt!: string | null;

  @StringField({ nullable: true, example: '4' })
  seconds!: string | null;

  @StringField({ nullable: true, example: '1280x720' })
  size!: string | null;

  @StringField({ nullable: true, description: 'Always null.' })
  remixed_from_video_id!: string | null;

  @ObjectField(VideoErrorDto, { nullable: true })
  error!: VideoErrorDto | null;
}

export class VideoListDto {
  @EnumField(['list'])
  object!: 'list';

  @ObjectListField(VideoDto)
  data!: VideoDto[];

  @StringField({ nullable: true })
  first_id!: string | null;

  @StringField({ nullable: true })
  last_id!: string | null;

  @BooleanField()
  has_more!: boolean;
}

const DEFAULT_LIMIT = 20;

const MAX_LIMIT = 100;

/** Page of the video list. */
export class VideosQueryDto {
  @PageLimit({ default: DEFAULT_LIMIT, maximum: MAX_LIMIT })
  limit: number = DEFAULT_LIMIT;

  @EnumField(['asc', 'desc'], { default: 'desc' })
  order: 'asc' | 'desc' = 'desc';

  @StringField({
    optional: true,
    description: 'Return videos after this id.',
    message: 'must be one id',
  })
  after?: string;
}
