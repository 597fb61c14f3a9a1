import { ApiProperty } from '@nestjs/swagger';
import { IsBoolean, ValidateIf } from 'class-validator';

const CONTENT_LOG_SETTINGS = ['off', 'allowed', 'on'] as const;

/** Whether what is said in a tenant's requests is kept. */
export class ContentLogDto {
  @ApiProperty({ enum: ['content_log'] })
  object!: 'content_log';

  @ApiProperty({
    enum: CONTENT_LOG_SETTINGS,
    description:
      "The operator's: `off` keeps nothing, `allowed` where the tenant or a key asks for it, `on` unless they refuse.",
    example: 'allowed',
  })
  setting!: (typeof CONTENT_LOG_SETTINGS)[number];

  @ApiProperty({
    type: Boolean,
    nullable: true,
    description: "The tenant's choice, for keys without one of their own; null: none.",
    example: true,
  })
  enabled!: boolean | null;

  @ApiProperty({ description: 'What the two come to.', example: true })
  is_on!: boolean;

  @ApiProperty({
    type: 'integer',
    description: 'Days for which it is kept, beside the day of the request; 0: for ever.',
    example: 30,
  })
  retention_days!: number;
}

export class UpdateContentLogDto {
  @ApiProperty({
    type: Boolean,
    nullable: true,
    description: "Null: as the operator's setting says. A key's own choice goes before it.",
    example: true,
  })
  @ValidateIf((_, value) => value !== null)
  @IsBoolean({ message: 'enabled is required: true, false or null' })
  enabled!: boolean | null;
}

export class DeletedContentDto {
  @ApiProperty({ enum: ['content_log'] })
  object!: 'content_log';

  @ApiProperty({ type: 'integer', description: 'Of so many requests.', example: 1042 })
  deleted_requests!: number;
}
