import { ApiProperty } from '@nestjs/swagger';
import { IsBoolean, ValidateIf } from 'class-validator';

const CONTENT_LOG_SETTINGS = ['off', 'allowed', 'on'] as const;

/** Whether a tenant's prompts and answers are stored. */
export class ContentLogDto {
  @ApiProperty({ enum: ['content_log'] })
  object!: 'content_log';

  @ApiProperty({
    enum: CONTENT_LOG_SETTINGS,
    description:
      'Operator setting. `off`: never stored. `allowed`: stored when the tenant or a key enables it. `on`: stored unless they disable it.',
    example: 'allowed',
  })
  setting!: (typeof CONTENT_LOG_SETTINGS)[number];

  @ApiProperty({
    type: Boolean,
    nullable: true,
    description: "The tenant's choice, for keys without their own; null: none.",
    example: true,
  })
  enabled!: boolean | null;

  @ApiProperty({ description: 'The effective setting.', example: true })
  is_on!: boolean;

  @ApiProperty({
    type: 'integer',
    description: 'Days of retention after the day of the request; 0: unlimited.',
    example: 30,
  })
  retention_days!: number;
}

export class UpdateContentLogDto {
  @ApiProperty({
    type: Boolean,
    nullable: true,
    description: "Null: use the operator's setting. A key's own choice takes precedence.",
    example: true,
  })
  @ValidateIf((_, value) => value !== null)
  @IsBoolean({ message: 'enabled is required: true, false or null' })
  enabled!: boolean | null;
}

export class DeletedContentDto {
  @ApiProperty({ enum: ['content_log'] })
  object!: 'content_log';

  @ApiProperty({ type: 'integer', description: 'Number of requests.', example: 1042 })
  deleted_requests!: number;
}
