import { KeyExpiry } from '../../../core/access/key-fields.decorators.js';
import { CursorPageDto } from '../../../platform/http/cursor-page.js';
import {
  DateTimeField,
  EnumField,
  NameField,
  StringField,
  UuidField,
} from '../../../platform/http/field.decorators.js';
import { ObjectListField } from '../../../platform/http/nested-field.decorators.js';
import { API_KEY_STATUSES, type ApiKeyStatus } from '../../../core/access/api-key.entity.js';
import { OPERATOR_ROLES, type OperatorRole } from '../../../core/access/roles.js';

/** An operator's key. */
export class AdminKeyDto {
  @UuidField()
  id!: string;

  @StringField({ example: 'console' })
  name!: string;

  @StringField({ example: 'sk-admin-4fR9...x2Qa' })
  key_preview!: string;

  @EnumField(OPERATOR_ROLES, { example: 'admin' })
  role!: OperatorRole;

  @EnumField(API_KEY_STATUSES, { example: 'active' })
  status!: ApiKeyStatus;

  @DateTimeField({ nullable: true })
  expires_at!: string | null;

  @DateTimeField({ nullable: true })
  revoked_at!: string | null;

  @DateTimeField({ nullable: true, description: 'With minute precision.' })
  last_used_at!: string | null;

  @DateTimeField()
  created_at!: string;
}

/** The response to a creation, the only one with the key itself. */
export class CreatedAdminKeyDto extends AdminKeyDto {
  @StringField({
    description: 'The key in plaintext. Shown only once and not stored.',
    example: 'sk-admin-4fR9…x2Qa',
  })
  key!: string;
}

export class AdminKeyListDto extends CursorPageDto {
  @ObjectListField(AdminKeyDto, {
    description: 'Newest first, including revoked and expired keys.',
  })
  data!: AdminKeyDto[];
}

export class CreateAdminKeyDto {
  @NameField({ example: 'console' })
  name!: string;

  @EnumField(OPERATOR_ROLES, { description: 'An `auditor` has read-only access.' })
  role!: OperatorRole;

  @KeyExpiry('When the key expires, in the future; null or absent: never.')
  expires_at?: string | null;
}
