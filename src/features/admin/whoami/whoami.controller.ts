import { Controller, Get, Req } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { ACTOR_KINDS, type ActorKind } from '../../../core/access/caller.js';
import { EnumField, StringField, UuidField } from '../../../platform/http/field.decorators.js';
import { authorOf } from '../../../core/access/author.js';
import type { GatewayRequest } from '../../../core/access/gateway-request.js';
import { Operator } from '../../../core/access/operator.decorator.js';
import { OPERATOR_ROLES, type OperatorRole } from '../../../core/access/roles.js';

class OperatorDto {
  @EnumField(ACTOR_KINDS, { example: 'admin_key' })
  kind!: ActorKind;

  @UuidField({ nullable: true })
  id!: string | null;

  @StringField({ example: 'console' })
  name!: string;

  @EnumField(OPERATOR_ROLES, { example: 'admin' })
  role!: OperatorRole;
}

@ApiTags('Admin')
@Operator()
@Controller('v1/admin/whoami')
export class WhoamiController {
  @Get()
  @ApiOperation({
    operationId: 'getOperator',
    summary: 'Get the identity of the key',
    description: 'An `auditor` has read-only access; an `admin` has full access to `/v1/admin`.',
  })
  @ApiOkResponse({ type: OperatorDto })
  read(@Req() request: GatewayRequest): OperatorDto {
    return { ...authorOf(request).actor, role: request.operator?.role ?? 'auditor' };
  }
}
