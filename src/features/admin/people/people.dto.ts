import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsBoolean, IsIn, IsOptional } from 'class-validator';
import type { Person } from '../../../core/people/people.service.js';
import {
  OPERATOR_ROLES,
  TENANT_ROLES,
  type OperatorRole,
  type TenantRole,
} from '../../../core/access/roles.js';
import { CursorPageDto } from '../../../platform/http/cursor-page.js';
import { MayBeAbsent } from '../../../platform/http/field.decorators.js';

class MembershipDto {
  @ApiProperty({ format: 'uuid' })
  tenant_id!: string;

  @ApiProperty({ example: 'acme' })
  tenant!: string;

  @ApiProperty({ enum: TENANT_ROLES, example: 'owner' })
  role!: TenantRole;
}

export class PersonDto {
  @ApiProperty({ format: 'uuid' })
  id!: string;

  @ApiProperty({ example: 'Ada Lovelace' })
  name!: string;

  @ApiProperty({ type: String, nullable: true, example: 'ada@acme.example' })
  email!: string | null;

  @ApiProperty({ example: 'https://login.example/realms/acme' })
  issuer!: string;

  @ApiProperty({ enum: OPERATOR_ROLES, nullable: true, example: null })
  operator_role!: OperatorRole | null;

  @ApiProperty({ type: [MembershipDto] })
  memberships!: MembershipDto[];

  @ApiProperty({ description: 'Whether login is blocked.' })
  is_disabled!: boolean;

  @ApiProperty({ type: String, format: 'date-time', nullable: true })
  last_login_at!: string | null;

  @ApiProperty({ format: 'date-time' })
  created_at!: string;
}

export class PersonListDto extends CursorPageDto {
  @ApiProperty({ type: [PersonDto], description: 'Oldest first.' })
  data!: PersonDto[];
}

export class UpdatePersonDto {
  @ApiPropertyOptional({
    enum: OPERATOR_ROLES,
    nullable: true,
    description: 'Null: not an operator. Overrides claims.',
    example: 'auditor',
  })
  @IsOptional()
  @IsIn(OPERATOR_ROLES, {
    message: `operator_role must be ${OPERATOR_ROLES.join(' or ')}, or null`,
  })
  operator_role?: OperatorRole | null;

  @ApiPropertyOptional({ description: 'True also ends all sessions of the person.' })
  @MayBeAbsent()
  @IsBoolean({ message: 'is_disabled must be true or false' })
  is_disabled?: boolean;
}

export class EndedSessionsDto {
  @ApiProperty({ type: 'integer', description: 'Number of ended sessions.', example: 2 })
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
