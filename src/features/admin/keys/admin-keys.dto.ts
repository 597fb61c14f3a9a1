import { KeyExpiry } from '../../../core/access/key-fields.decorators.js';
import { ApiProperty } from '@nestjs/swagger';
import { IsIn } from 'class-validator';
import { API_KEY_STATUSES, type ApiKeyStatus } from '../../../core/access/api-key.entity.js';
import { OPERATOR_ROLES, type OperatorRole } from '../../../core/access/roles.js';
import { CursorPageDto } from '../../../platform/http/cursor-page.js';
import { IsName } from '../../../platform/http/field.decorators.js';

/** An operator's key. */
export class AdminKeyDto {
  @ApiProperty({ format: 'uuid' })
  id!: string;

  @ApiProperty({ example: 'console' })
  name!: string;

  @ApiProperty({ example: 'sk-admin-4fR9...x2Qa' })
  key_preview!: string;

  @ApiProperty({ enum: OPERATOR_ROLES, example: 'admin' })
  role!: OperatorRole;

  @ApiProperty({ enum: API_KEY_STATUSES, example: 'active' })
  status!: ApiKeyStatus;

  @ApiProperty({ type: String, format: 'date-time', nullable: true })
  expires_at!: string | null;

  @ApiProperty({ type: String, format: 'date-time', nullable: true })
  revoked_at!: string | null;

  @ApiProperty({
    type: String,
    format: 'date-time',
    nullable: true,
    description: 'With minute precision.',
  })
  last_used_at!: string | null;

  @ApiProperty({ type: String, format: 'date-time' })
  created_at!: string;
}

/** The response to a creation, the only one with the key itself. */
export class CreatedAdminKeyDto extends AdminKeyDto {
  @ApiProperty({
    description: 'The key in plaintext. Shown only once and not stored.',
    example: 'sk-admin-4fR9…x2Qa',
  })
  key!: string;
}

export class AdminKeyListDto extends CursorPageDto {
  @ApiProperty({
    type: [AdminKeyDto],
    description: 'Newest first, including revoked and expired keys.',
  })
  data!: AdminKeyDto[];
}

export class CreateAdminKeyDto {
  @ApiProperty({ minLength: 1, maxLength: 255, example: 'console' })
  @IsName()
  name!: string;

  @ApiProperty({ enum: OPERATOR_ROLES, description: 'An `auditor` has read-only access.' })
  @IsIn(OPERATOR_ROLES, { message: `role must be ${OPERATOR_ROLES.join(' or ')}` })
  role!: OperatorRole;

  @KeyExpiry('When the key expires, in the future; null or absent: never.')
  expires_at?: string | null;
}
