import { ApiProperty } from '@nestjs/swagger';
import { IsIn, ValidateBy } from 'class-validator';
import { CursorPageDto } from '../../platform/http/cursor-page.js';
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
  @ApiProperty({ format: 'uuid', description: 'Id of the person.' })
  id!: string;

  @ApiProperty({ example: 'Ada Lovelace' })
  name!: string;

  @ApiProperty({ type: String, nullable: true, example: 'ada@acme.example' })
  email!: string | null;

  @ApiProperty({ enum: TENANT_ROLES, example: 'developer' })
  role!: TenantRole;

  @ApiProperty({
    description: 'Whether the role comes from a claim of the login service and is revoked with it.',
  })
  is_by_claim!: boolean;

  @ApiProperty({
    description: 'Whether an operator has disabled this person, who then cannot log in.',
  })
  is_disabled!: boolean;

  @ApiProperty({ type: String, format: 'date-time', nullable: true })
  last_login_at!: string | null;

  @ApiProperty({ format: 'date-time' })
  created_at!: string;
}

export class MemberListDto extends CursorPageDto {
  @ApiProperty({ type: [MemberDto], description: 'Oldest first.' })
  data!: MemberDto[];
}

export class InvitationDto {
  @ApiProperty({ format: 'uuid' })
  id!: string;

  @ApiProperty({ example: 'ada@acme.example' })
  email!: string;

  @ApiProperty({ enum: [...TENANT_ROLES, ...OPERATOR_ROLES], example: 'developer' })
  role!: TenantRole | OperatorRole;

  @ApiProperty({ description: 'Name of the inviter.', example: 'Grace Hopper' })
  invited_by!: string;

  @ApiProperty({
    description: 'Page to send to the person, since the gateway sends no mail. Contains no secret.',
    example: '/v1/auth/login',
  })
  login_path!: string;

  @ApiProperty({ format: 'date-time' })
  created_at!: string;

  @ApiProperty({ format: 'date-time', description: 'Fourteen days after creation.' })
  expires_at!: string;
}

export class InvitationListDto extends CursorPageDto {
  @ApiProperty({ type: [InvitationDto], description: 'Open invitations, oldest first.' })
  data!: InvitationDto[];
}

const ROLE_MESSAGE = `role must be ${TENANT_ROLES.join(', ')}`.replace(/, (\w+)$/, ' or $1');

function IsEmailAddress(): PropertyDecorator {
  return ValidateBy(
    { name: 'isEmail', validator: { validate: isInvitableAddress } },
    { message: `email ${EMAIL_RULE}` },
  );
}

export class InviteMemberDto {
  @ApiProperty({ format: 'email', example: 'ada@acme.example' })
  @IsEmailAddress()
  email!: string;

  @ApiProperty({ enum: TENANT_ROLES, example: 'developer' })
  @IsIn(TENANT_ROLES, { message: ROLE_MESSAGE })
  role!: TenantRole;
}

export class InviteOperatorDto {
  @ApiProperty({ format: 'email', example: 'grace@operator.example' })
  @IsEmailAddress()
  email!: string;

  @ApiProperty({ enum: OPERATOR_ROLES, example: 'auditor' })
  @IsIn(OPERATOR_ROLES, { message: `role must be ${OPERATOR_ROLES.join(' or ')}` })
  role!: OperatorRole;
}

export class UpdateMemberDto {
  @ApiProperty({ enum: TENANT_ROLES, example: 'viewer' })
  @IsIn(TENANT_ROLES, { message: ROLE_MESSAGE })
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
