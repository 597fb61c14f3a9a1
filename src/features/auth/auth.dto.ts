import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsOptional, IsString, MaxLength } from 'class-validator';
import {
  GIVEN_RIGHTS,
  OPERATOR_RIGHTS,
  OPERATOR_ROLES,
  TENANT_ROLES,
  type ActingRole,
  type GivenRight,
  type OperatorRight,
  type OperatorRole,
} from '../../core/access/roles.js';

const SESSION_KINDS = ['person', 'api_key', 'admin_key', 'link'] as const;

export class LoginMethodsDto {
  @ApiProperty({ description: 'Whether `GET /v1/auth/login` leads to a login service.' })
  oidc!: boolean;

  @ApiProperty({ description: 'Whether `POST /v1/auth/key` accepts keys.', example: true })
  key!: boolean;

  @ApiProperty({
    description:
      'Whether the browser sent a session cookie, valid or not. Without one, `GET /v1/auth/session` returns 401.',
  })
  has_session_cookie!: boolean;
}

export class LoginQueryDto {
  @ApiPropertyOptional({
    description: 'Path of this origin to open after the login.',
    default: '/',
    example: '/logs',
  })
  @IsOptional()
  @IsString({ message: 'return_to must be one path' })
  @MaxLength(2_000, { message: 'return_to must have at most 2000 characters' })
  return_to?: string;
}

export class KeyLoginDto {
  @ApiProperty({ description: 'A management key or an admin key.', example: 'sk-mgmt-4fR9…x2Qa' })
  @IsString({ message: 'key must be a string' })
  key!: string;
}

export class LinkLoginDto {
  @ApiProperty({ description: 'The part of a login link after `#link=`.' })
  @IsString({ message: 'token must be a string' })
  token!: string;
}

class SessionTenantDto {
  @ApiProperty({ format: 'uuid', description: 'Value for `X-Gateway-Tenant`.' })
  id!: string;

  @ApiProperty({ example: 'acme' })
  name!: string;

  @ApiProperty({
    enum: [...TENANT_ROLES, 'key'],
    description: '`key`: a management key opened the session, which has its rights.',
  })
  role!: ActingRole | 'key';

  @ApiProperty({
    enum: GIVEN_RIGHTS,
    isArray: true,
    description:
      'Rights of the session at the tenant. `money`: read balances, statements and totals. `read`: read everything else that is not secret. `develop`: change keys, guardrails and similar. `own`: manage people, BYOK accounts and limits. `content`: read stored prompts and answers.',
    example: ['any', 'money', 'read', 'develop'],
  })
  rights!: GivenRight[];
}

export class SessionDto {
  @ApiProperty({ format: 'uuid' })
  id!: string;

  @ApiProperty({ enum: SESSION_KINDS, description: 'How the session was opened.' })
  kind!: (typeof SESSION_KINDS)[number];

  @ApiProperty({ example: 'Ada Lovelace', description: 'Name of the person or key.' })
  name!: string;

  @ApiProperty({ type: String, nullable: true, example: 'ada@acme.example' })
  email!: string | null;

  @ApiProperty({ enum: OPERATOR_ROLES, nullable: true, description: 'Null unless an operator.' })
  operator_role!: OperatorRole | null;

  @ApiProperty({
    enum: OPERATOR_RIGHTS,
    isArray: true,
    description: 'Rights under `/v1/admin`.',
    example: [],
  })
  operator_rights!: OperatorRight[];

  @ApiProperty({
    enum: GIVEN_RIGHTS,
    isArray: true,
    description:
      'Rights of an operator at any other tenant named by `X-Gateway-Tenant`. Empty unless an operator.',
    example: [],
  })
  operator_tenant_rights!: GivenRight[];

  @ApiProperty({
    type: [SessionTenantDto],
    description: 'Requests without `X-Gateway-Tenant` apply to the first one.',
  })
  tenants!: SessionTenantDto[];

  @ApiProperty({ description: 'Value for the `X-CSRF-Token` header of changing requests.' })
  csrf_token!: string;

  @ApiProperty({ format: 'date-time', description: 'Latest expiry; an idle session ends sooner.' })
  expires_at!: string;
}

class ListedSessionDto {
  @ApiProperty({ format: 'uuid' })
  id!: string;

  @ApiProperty({ description: 'Whether it is the calling session.' })
  is_current!: boolean;

  @ApiProperty({ type: String, nullable: true, example: 'Mozilla/5.0 …' })
  user_agent!: string | null;

  @ApiProperty({ format: 'date-time' })
  created_at!: string;

  @ApiProperty({ format: 'date-time', description: 'Accurate to the minute.' })
  last_seen_at!: string;

  @ApiProperty({ format: 'date-time' })
  expires_at!: string;
}

export class SessionListDto {
  @ApiProperty({ type: [ListedSessionDto], description: 'Open sessions, newest first.' })
  data!: ListedSessionDto[];
}
