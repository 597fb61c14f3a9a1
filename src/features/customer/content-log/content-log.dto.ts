import { BooleanField, EnumField, IntegerField } from '../../../platform/http/field.decorators.js';

const CONTENT_LOG_SETTINGS = ['off', 'allowed', 'on'] as const;

/** True when a tenant's prompts and answers are stored. */
export class ContentLogDto {
  @EnumField(['content_log'])
  object!: 'content_log';

  @EnumField(CONTENT_LOG_SETTINGS, {
    description:
      'Operator setting. `off`: never stored. `allowed`: stored when the tenant or a key enables it. `on`: stored unless they disable it.',
    example: 'allowed',
  })
  setting!: (typeof CONTENT_LOG_SETTINGS)[number];

  @BooleanField({
    nullable: true,
    description: "The tenant's choice, for keys without their own; null: none.",
    example: true,
  })
  enabled!: boolean | null;

  @BooleanField({ description: 'The effective setting.', example: true })
  is_on!: boolean;

  @IntegerField({
    description: 'Days of retention after the day of the request; 0: unlimited.',
    example: 30,
  })
  retention_days!: number;
}

export class UpdateContentLogDto {
  @BooleanField({
    nullable: true,
    description: "Null: use the operator's setting. A key's own choice takes precedence.",
    example: true,
  })
  enabled!: boolean | null;
}

export class DeletedContentDto {
  @EnumField(['content_log'])
  object!: 'content_log';

  @IntegerField({ description: 'Number of requests.', example: 1042 })
  deleted_requests!: number;
}
