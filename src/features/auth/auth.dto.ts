import {
  BooleanField,
  DateTimeField,
  EnumField,
  StringField,
  UuidField,
} from '../../platform/http/field.decorators.js';
import { EnumListField, ObjectListField } from '../../platform/http/nested-field.decorators.js';
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
  @BooleanField({ description: 'Whether `GET /v1/auth/login` redirects to a login service.' })
  oidc!: boolean;

  @BooleanField({ description: 'Whether `POST /v1/auth/key` accepts keys.', example: true })
  key!: boolean;

  @BooleanField({
    description:
      'Whether the browser sent a session cookie, valid or not. Without it `GET /v1/auth/session` returns 401.',
  })
  has_session_cookie!: boolean;
}

export class LoginQueryDto {
  @StringField({
    maxLength: 2_000,
    description: 'Path of this origin to redirect to after the login.',
    default: '/',
    example: '/logs',
  })
  return_to?: string;
}

export class KeyLoginDto {
  @StringField({
    description: 'A management key or an admin key.',
    example: 'sk-mgmt-4fR9…x2Qa',
    message: 'must be a string',
  })
  key!: string;
}

export class LinkLoginDto {
  @StringField({
    description: 'The text after `#link=` in a login link.',
    message: 'must be a string',
  })
  token!: string;
}

class SessionTenantDto {
  @UuidField({ description: 'Value for `X-Gateway-Tenant`.' })
  id!: string;

  @StringField({ example: 'acme' })
  name!: string;

  @EnumField([...TENANT_ROLES, ...OPERATOR_ROLES, 'key'], {
    description: '`key`: the session has the rights of a management key.',
  })
  role!: ActingRole | 'key';

  @EnumListField(GIVEN_RIGHTS, {
    description:
      'Permissions in this tenant. `money`: read balances, statements and totals. `read`: read everything else except secrets. `develop`: change keys, guardrails and similar. `own`: change people, vendor accounts and limits. `content`: read stored prompts and answers.',
    example: ['any', 'money', 'read', 'develop'],
  })
  rights!: GivenRight[];
}

export class SessionDto {
  @UuidField()
  id!: string;

  @EnumField(SESSION_KINDS, { description: 'How the session was opened.' })
  kind!: (typeof SESSION_KINDS)[number];

  @StringField({ example: 'Ada Lovelace', description: "The person's name, or the key's." })
  name!: string;

  @StringField({ nullable: true, example: 'ada@acme.example' })
  email!: string | null;

  @EnumField(OPERATOR_ROLES, { nullable: true, description: 'Null: not an operator.' })
  operator_role!: OperatorRole | null;

  @EnumListField(OPERATOR_RIGHTS, {
    description: 'Permissions under `/v1/admin`.',
    example: [],
  })
  operator_rights!: OperatorRight[];

  @EnumListField(GIVEN_RIGHTS, {
    description:
      'Permissions of an operator in any other tenant that `X-Gateway-Tenant` names. Empty: not an operator.',
    example: [],
  })
  operator_tenant_rights!: GivenRight[];

  @ObjectListField(SessionTenantDto, {
    description: 'Without `X-Gateway-Tenant`, requests use the first one.',
  })
  tenants!: SessionTenantDto[];

  @StringField({ description: 'Send it as `X-CSRF-Token` with every change.' })
  csrf_token!: string;

  @DateTimeField({ description: 'Sessions end earlier when unused.' })
  expires_at!: string;
}

class ListedSessionDto {
  @UuidField()
  id!: string;

  @BooleanField({ description: 'Whether it is the current session.' })
  is_current!: boolean;

  @StringField({ nullable: true, example: 'Mozilla/5.0 …' })
  user_agent!: string | null;

  @DateTimeField()
  created_at!: string;

  @DateTimeField({ description: 'Precise to the minute.' })
  last_seen_at!: string;

  @DateTimeField()
  expires_at!: string;
}

export class SessionListDto {
  @ObjectListField(ListedSessionDto, { description: 'Open sessions, newest first.' })
  data!: ListedSessionDto[];
}
