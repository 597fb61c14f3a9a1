import { KeyExpiry } from '../../../core/access/key-fields.decorators.js';
import { ApiProperty } from '@nestjs/swagger';
import { IsIn } from 'class-validator';
import { API_KEY_STATUSES, type ApiKeyStatus } from '../../../core/access/api-key.entity.js';
import { OPERATOR_ROLES, type OperatorRole } from '../../../core/people/roles.js';
import { CursorPageDto } from '../../../platform/http/cursor-page.js';
import { IsName } from '../../../platform/http/field.decorators.js';

/** A key of an operator. */
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
    description: 'To the minute.',
  })
  last_used_at!: string | null;

  @ApiProperty({ type: String, format: 'date-time' })
  created_at!: string;
}

/** The answer to a key's creation, the only one that ever holds the key itself. */
export class CreatedAdminKeyDto extends AdminKeyDto {
  @ApiProperty({
    description: 'The key in plaintext. It is shown this once and not stored.',
    example: 'sk-admin-4fR9…x2Qa',
  })
  key!: string;
}

export class AdminKeyListDto extends CursorPageDto {
  @ApiProperty({
    type: [AdminKeyDto],
    description: 'Newest first, revoked and expired ones included.',
  })
  data!: AdminKeyDto[];
}

export class CreateAdminKeyDto {
  @ApiProperty({ minLength: 1, maxLength: 255, example: 'console' })
  @IsName()
  name!: string;

  @ApiProperty({ enum: OPERATOR_ROLES, description: 'An `auditor` may only read.' })
  @IsIn(OPERATOR_ROLES, { message: `role must be ${OPERATOR_ROLES.join(' or ')}` })
  role!: OperatorRole;

  @KeyExpiry('When the key stops working; null or absent: never. Must lie in the future.')
  expires_at?: string | null;
}
