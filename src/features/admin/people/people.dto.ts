import { CursorPageDto } from '../../../platform/http/cursor-page.js';
import {
  BooleanField,
  DateTimeField,
  EnumField,
  IntegerField,
  StringField,
  UuidField,
} from '../../../platform/http/field.decorators.js';
import { ObjectListField } from '../../../platform/http/nested-field.decorators.js';
import type { Person } from '../../../core/people/people.service.js';
import {
  OPERATOR_ROLES,
  TENANT_ROLES,
  type OperatorRole,
  type TenantRole,
} from '../../../core/access/roles.js';

class MembershipDto {
  @UuidField()
  tenant_id!: string;

  @StringField({ example: 'acme' })
  tenant!: string;

  @EnumField(TENANT_ROLES, { example: 'owner' })
  role!: TenantRole;
}

export class PersonDto {
  @UuidField()
  id!: string;

  @StringField({ example: 'Ada Lovelace' })
  name!: string;

  @StringField({ nullable: true, example: 'ada@acme.example' })
  email!: string | null;

  @StringField({ example: 'https://login.example/realms/acme' })
  issuer!: string;

  @EnumField(OPERATOR_ROLES, { nullable: true, example: null })
  operator_role!: OperatorRole | null;

  @ObjectListField(MembershipDto)
  memberships!: MembershipDto[];

  @BooleanField({ description: 'Whether login is blocked.' })
  is_disabled!: boolean;

  @DateTimeField({ nullable: true })
  last_login_at!: string | null;

  @DateTimeField()
  created_at!: string;
}

export class PersonListDto extends CursorPageDto {
  @ObjectListField(PersonDto, { description: 'Oldest first.' })
  data!: PersonDto[];
}

export class UpdatePersonDto {
  @EnumField(OPERATOR_ROLES, {
    optional: true,
    nullable: true,
    description: 'Null: not an operator. Overrides claims.',
    example: 'auditor',
  })
  operator_role?: OperatorRole | null;

  @BooleanField({ optional: true, description: 'True also ends all sessions of the person.' })
  is_disabled?: boolean;
}

export class EndedSessionsDto {
  @IntegerField({ description: 'Number of ended sessions.', example: 2 })
  ended!: number;
}

export function toPerson(person: Person): PersonDto {
  return {
    id: person.id,
    name: person.name,
    email: person.email,
    issuer: person.issuer,
    operator_role: person.operatorRole,
    memberships: person.memberships.map(({ tenantId, tenant, role }) => ({
      tenant_id: tenantId,
      tenant,
      role,
    })),
    is_disabled: person.disabledAt !== null,
    last_login_at: person.lastLoginAt?.toISOString() ?? null,
    created_at: person.createdAt.toISOString(),
  };
}
