import { ValidateBy } from 'class-validator';
import { CursorPageDto } from '../../platform/http/cursor-page.js';
import {
  BooleanField,
  DateTimeField,
  EnumField,
  field,
  StringField,
  UuidField,
  type FieldDecorator,
} from '../../platform/http/field.decorators.js';
import { ObjectListField } from '../../platform/http/nested-field.decorators.js';
import { EMAIL_RULE, isInvitableAddress } from './email-address.js';
import type { InvitationEntity } from './invitation.entity.js';
import type { Member } from './members.service.js';
import {
  OPERATOR_ROLES,
  TENANT_ROLES,
  type OperatorRole,
  type TenantRole,
} from '../access/roles.js';

export class MemberDto {
  @UuidField({ description: 'Id of the person.' })
  id!: string;

  @StringField({ example: 'Ada Lovelace' })
  name!: string;

  @StringField({ nullable: true, example: 'ada@acme.example' })
  email!: string | null;

  @EnumField(TENANT_ROLES, { example: 'developer' })
  role!: TenantRole;

  @BooleanField({
    description:
      'Whether the role comes from a claim of the login service. It is removed with the claim.',
  })
  is_by_claim!: boolean;

  @BooleanField({ description: 'Whether the operator disabled the login of this person.' })
  is_disabled!: boolean;

  @DateTimeField({ nullable: true })
  last_login_at!: string | null;

  @DateTimeField()
  created_at!: string;
}

export class MemberListDto extends CursorPageDto {
  @ObjectListField(MemberDto, { description: 'Oldest first.' })
  data!: MemberDto[];
}

export class InvitationDto {
  @UuidField()
  id!: string;

  @StringField({ example: 'ada@acme.example' })
  email!: string;

  @EnumField([...TENANT_ROLES, ...OPERATOR_ROLES], { example: 'developer' })
  role!: TenantRole | OperatorRole;

  @StringField({ description: 'Author of the invitation.', example: 'Grace Hopper' })
  invited_by!: string;

  @StringField({
    description:
      'Page to send to the person, since the gateway sends no mail. It contains no secret.',
    example: '/v1/auth/login',
  })
  login_path!: string;

  @DateTimeField()
  created_at!: string;

  @DateTimeField({ description: 'Fourteen days after creation.' })
  expires_at!: string;
}

export class InvitationListDto extends CursorPageDto {
  @ObjectListField(InvitationDto, { description: 'Open invitations, oldest first.' })
  data!: InvitationDto[];
}

function EmailField(example: string): FieldDecorator<string, object> {
  return field({ type: 'string', format: 'email' }, { example }, EMAIL_RULE, (rule) => [
    ValidateBy({ name: 'isEmail', validator: { validate: isInvitableAddress } }, rule),
  ]);
}

export class InviteMemberDto {
  @EmailField('ada@acme.example')
  email!: string;

  @EnumField(TENANT_ROLES, { example: 'developer' })
  role!: TenantRole;
}

export class InviteOperatorDto {
  @EmailField('grace@operator.example')
  email!: string;

  @EnumField(OPERATOR_ROLES, { example: 'auditor' })
  role!: OperatorRole;
}

export class UpdateMemberDto {
  @EnumField(TENANT_ROLES, { example: 'viewer' })
  role!: TenantRole;
}

export function toMember(member: Member): MemberDto {
  return {
    id: member.id,
    name: member.name,
    email: member.email,
    role: member.role,
    is_by_claim: member.byClaim,
    is_disabled: member.disabledAt !== null,
    last_login_at: member.lastLoginAt?.toISOString() ?? null,
    created_at: member.createdAt.toISOString(),
  };
}

export function toInvitation(invitation: InvitationEntity): InvitationDto {
  return {
    id: invitation.id,
    email: invitation.email,
    role: invitation.role,
    invited_by: invitation.invitedBy,
    login_path: '/v1/auth/login',
    created_at: invitation.createdAt.toISOString(),
    expires_at: invitation.expiresAt.toISOString(),
  };
}
