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

  @ApiProperty({ description: 'Whether `POST /v1/auth/key` takes keys.', example: true })
  key!: boolean;

  @ApiProperty({
    description:
      'Whether the browser sent the cookie of a session, open or not: without it `GET /v1/auth/session` is a 401.',
  })
  has_session_cookie!: boolean;
}

export class LoginQueryDto {
  @ApiPropertyOptional({
    description: 'Where the browser goes after the login: a path of this origin.',
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
  @ApiProperty({ description: 'What follows `#link=` in a login link.' })
  @IsString({ message: 'token must be a string' })
  token!: string;
}

class SessionTenantDto {
  @ApiProperty({ format: 'uuid', description: 'What `X-Gateway-Tenant` names.' })
  id!: string;

  @ApiProperty({ example: 'acme' })
  name!: string;

  @ApiProperty({
    enum: [...TENANT_ROLES, 'key'],
    description: '`key`: the session is that of a management key, with its rights.',
  })
  role!: ActingRole | 'key';

  @ApiProperty({
    enum: GIVEN_RIGHTS,
    isArray: true,
    description:
      'What the session may do there: `money` reads balances, statements and sums, `read` all else that is no secret, `develop` changes keys, guardrails and the like, `own` people, vendor accounts and limits, `content` is about prompts and answers that are kept.',
    example: ['any', 'money', 'read', 'develop'],
  })
  rights!: GivenRight[];
}

export class SessionDto {
  @ApiProperty({ format: 'uuid' })
  id!: string;

  @ApiProperty({ enum: SESSION_KINDS, description: 'How it was opened.' })
  kind!: (typeof SESSION_KINDS)[number];

  @ApiProperty({ example: 'Ada Lovelace', description: "The person's name, or the key's." })
  name!: string;

  @ApiProperty({ type: String, nullable: true, example: 'ada@acme.example' })
  email!: string | null;

  @ApiProperty({ enum: OPERATOR_ROLES, nullable: true, description: 'Null: no operator.' })
  operator_role!: OperatorRole | null;

  @ApiProperty({
    enum: OPERATOR_RIGHTS,
    isArray: true,
    description: 'What the session may do under `/v1/admin`.',
    example: [],
  })
  operator_rights!: OperatorRight[];

  @ApiProperty({
    enum: GIVEN_RIGHTS,
    isArray: true,
    description:
      'What an operator may do in every other tenant, when `X-Gateway-Tenant` names it. Empty: no operator.',
    example: [],
  })
  operator_tenant_rights!: GivenRight[];

  @ApiProperty({
    type: [SessionTenantDto],
    description: 'Without `X-Gateway-Tenant`, requests are for the first one.',
  })
  tenants!: SessionTenantDto[];

  @ApiProperty({ description: 'Changing requests send it as `X-CSRF-Token`.' })
  csrf_token!: string;

  @ApiProperty({ format: 'date-time', description: 'It ends then, or sooner when it is not used.' })
  expires_at!: string;
}

class ListedSessionDto {
  @ApiProperty({ format: 'uuid' })
  id!: string;

  @ApiProperty({ description: 'Whether it is the one that asks.' })
  is_current!: boolean;

  @ApiProperty({ type: String, nullable: true, example: 'Mozilla/5.0 …' })
  user_agent!: string | null;

  @ApiProperty({ format: 'date-time' })
  created_at!: string;

  @ApiProperty({ format: 'date-time', description: 'To the minute.' })
  last_seen_at!: string;

  @ApiProperty({ format: 'date-time' })
  expires_at!: string;
}

export class SessionListDto {
  @ApiProperty({ type: [ListedSessionDto], description: 'Open ones, newest first.' })
  data!: ListedSessionDto[];
}
