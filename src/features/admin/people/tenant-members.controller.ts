import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post, Query } from '@nestjs/common';
import {
  ApiCreatedResponse,
  ApiNoContentResponse,
  ApiOkResponse,
  ApiOperation,
  ApiTags,
} from '@nestjs/swagger';
import { CurrentAuthor, type Author } from '../../../core/access/author.js';
import { ApiFields, ApiFilters } from '../../../core/access/customer.decorator.js';
import { Operator } from '../../../core/access/operator.decorator.js';
import { InvitationsService } from '../../../core/people/invitations.service.js';
import {
  InvitationDto,
  InviteMemberDto,
  MemberDto,
  MemberListDto,
  toInvitation,
  toMember,
  UpdateMemberDto,
} from '../../../core/people/members.dto.js';
import { MembersService } from '../../../core/people/members.service.js';
import { isUuid } from '../../../platform/database/stored-text.js';
import { ApiErrorResponse } from '../../../platform/errors/error-response.js';
import { NotFoundError } from '../../../platform/errors/gateway-errors.js';
import {
  CursorPageQueryDto,
  readCursor,
  toCursorPage,
} from '../../../platform/http/cursor-page.js';
import { ApiTenant } from '../tenants/api-tenant.decorator.js';
import { TenantsAdmin } from '../tenants/tenants.service.js';
import { ReadsJsonBody } from '../../../platform/http/read-json-body.js';

@ApiTags('Admin')
@Operator()
@Controller('v1/admin/tenants/:tenant_id/members')
export class TenantMembersController {
  constructor(
    private readonly members: MembersService,
    private readonly invitations: InvitationsService,
    private readonly tenants: TenantsAdmin,
  ) {}

  @Get()
  @ApiOperation({ operationId: 'listMembersOfTenant', summary: "List a tenant's members" })
  @ApiOkResponse({ type: MemberListDto })
  @ApiFilters()
  @ApiTenant()
  async list(
    @Param('tenant_id') id: string,
    @Query() { limit, cursor }: CursorPageQueryDto,
  ): Promise<MemberListDto> {
    const tenantId = (await this.tenants.find(id)).id;
    const rows = await this.members.list(tenantId, limit + 1, readCursor(cursor, ['time', 'uuid']));
    return toCursorPage(
      rows,
      limit,
      ({ createdAt, id: personId }) => [createdAt, personId],
      toMember,
    );
  }

  @Post()
  @ReadsJsonBody()
  @ApiOperation({
    operationId: 'inviteMemberOfTenant',
    summary: 'Invite a member to a tenant',
    description: "Adds a tenant's first owner, unless a claim of the login service does.",
  })
  @ApiCreatedResponse({ type: InvitationDto })
  @ApiFields(InviteMemberDto, {
    'The first owner': { email: 'ada@acme.example', role: 'owner' },
  })
  @ApiTenant()
  @ApiErrorResponse(403, 'The tenant has an owner. Only owners add other owners.')
  @ApiErrorResponse(409, 'The address is already invited or a member.')
  async invite(
    @CurrentAuthor() author: Author,
    @Param('tenant_id') id: string,
    @Body() { email, role }: InviteMemberDto,
  ): Promise<InvitationDto> {
    const tenantId = (await this.tenants.find(id)).id;
    if (role === 'owner') await this.members.refuseFurtherOwner(tenantId);
    return toInvitation(await this.invitations.invite(author, email, { tenantId, role }));
  }

  @Patch(':person_id')
  @ReadsJsonBody()
  @ApiOperation({ operationId: 'updateMemberOfTenant', summary: "Change a member's role" })
  @ApiOkResponse({ type: MemberDto })
  @ApiFields(UpdateMemberDto, { 'Make an owner': { role: 'owner' } })
  @ApiTenant({ param: 'person_id', noun: 'member' })
  @ApiErrorResponse(403, 'The tenant has an owner. Only owners add other owners.')
  @ApiErrorResponse(409, 'It is the last owner.')
  async update(
    @CurrentAuthor() author: Author,
    @Param('tenant_id') id: string,
    @Param('person_id') personId: string,
    @Body() { role }: UpdateMemberDto,
  ): Promise<MemberDto> {
    const tenantId = (await this.tenants.find(id)).id;
    if (role === 'owner') await this.members.refuseFurtherOwner(tenantId);
    return toMember(
      await this.members.changeRole(author, tenantId, memberId(personId), role, 'person_id'),
    );
  }

  @Delete(':person_id')
  @HttpCode(204)
  @ApiOperation({ operationId: 'removeMemberOfTenant', summary: 'Remove a member from a tenant' })
  @ApiNoContentResponse({ description: 'The person is no longer a member.' })
  @ApiTenant({ param: 'person_id', noun: 'member' })
  @ApiErrorResponse(409, 'It is the last owner.')
  async remove(
    @CurrentAuthor() author: Author,
    @Param('tenant_id') id: string,
    @Param('person_id') personId: string,
  ): Promise<void> {
    await this.members.remove(
      author,
      (await this.tenants.find(id)).id,
      memberId(personId),
      'person_id',
    );
  }
}

function memberId(id: string): string {
  if (isUuid(id)) return id;
  throw new NotFoundError('person_id', 'The tenant has no member with this id.');
}
