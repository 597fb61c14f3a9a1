import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post, Query } from '@nestjs/common';
import {
  ApiCreatedResponse,
  ApiNoContentResponse,
  ApiOkResponse,
  ApiOperation,
  ApiTags,
} from '@nestjs/swagger';
import { Authenticated } from '../../../core/access/authenticated.decorator.js';
import { CurrentAuthor, type Author } from '../../../core/access/author.js';
import type { Caller } from '../../../core/access/caller.js';
import { ApiFields, ApiFilters, ApiOwn } from '../../../core/access/customer.decorator.js';
import { requireRightsOf } from '../../../core/access/key-rights.js';
import { CurrentCaller } from '../../../core/access/gateway-request.js';
import { InvitationsService } from '../../../core/people/invitations.service.js';
import {
  InvitationDto,
  InvitationListDto,
  InviteMemberDto,
  MemberDto,
  MemberListDto,
  toInvitation,
  toMember,
  UpdateMemberDto,
} from '../../../core/people/members.dto.js';
import { MembersService } from '../../../core/people/members.service.js';
import { Members } from '../../../core/access/roles.js';
import { isUuid } from '../../../platform/database/stored-text.js';
import { ApiErrorResponse } from '../../../platform/errors/error-response.js';
import { NotFoundError } from '../../../platform/errors/gateway-errors.js';
import {
  CursorPageQueryDto,
  readCursor,
  toCursorPage,
} from '../../../platform/http/cursor-page.js';
import { ReadsJsonBody } from '../../../platform/http/read-json-body.js';

@ApiTags('Customer')
@Authenticated('management')
@Members('own')
@Controller('v1/customer/members')
export class MembersController {
  constructor(private readonly members: MembersService) {}

  @Get()
  @Members('read')
  @ApiOperation({ operationId: 'listMembers', summary: "List the tenant's members" })
  @ApiOkResponse({ type: MemberListDto })
  @ApiFilters()
  async list(
    @CurrentCaller() { tenantId }: Caller,
    @Query() { limit, cursor }: CursorPageQueryDto,
  ): Promise<MemberListDto> {
    const rows = await this.members.list(tenantId, limit + 1, readCursor(cursor, ['time', 'uuid']));
    return toCursorPage(rows, limit, ({ createdAt, id }) => [createdAt, id], toMember);
  }

  @Patch(':id')
  @ReadsJsonBody()
  @ApiOperation({
    operationId: 'updateMember',
    summary: "Change a member's role",
    description:
      'The last owner cannot be demoted. A role set here overrides claims of the login service.',
  })
  @ApiOkResponse({ type: MemberDto })
  @ApiFields(UpdateMemberDto, { 'Make read-only': { role: 'viewer' } })
  @ApiOwn('member')
  @ApiErrorResponse(
    403,
    'A management key is required, and the role must have no rights that the caller lacks.',
  )
  @ApiErrorResponse(409, 'It is the last owner.')
  async update(
    @CurrentCaller() caller: Caller,
    @CurrentAuthor() author: Author,
    @Param('id') id: string,
    @Body() { role }: UpdateMemberDto,
  ): Promise<MemberDto> {
    assertUuid(id, 'member');
    requireRightsOf(caller, role);
    return toMember(await this.members.changeRole(author, caller.tenantId, id, role));
  }

  @Delete(':id')
  @HttpCode(204)
  @ApiOperation({
    operationId: 'removeMember',
    summary: 'Remove a member',
    description:
      "Ends the person's access to the tenant within a second. A role from a claim returns with the next login.",
  })
  @ApiNoContentResponse({ description: 'The person is no longer a member.' })
  @ApiOwn('member')
  @ApiErrorResponse(409, 'It is the last owner.')
  async remove(
    @CurrentCaller() { tenantId }: Caller,
    @CurrentAuthor() author: Author,
    @Param('id') id: string,
  ): Promise<void> {
    assertUuid(id, 'member');
    await this.members.remove(author, tenantId, id);
  }
}

@ApiTags('Customer')
@Authenticated('management')
@Members('own')
@Controller('v1/customer/invitations')
export class InvitationsController {
  constructor(private readonly invitations: InvitationsService) {}

  @Get()
  @ApiOperation({ operationId: 'listInvitations', summary: 'List open invitations' })
  @ApiOkResponse({ type: InvitationListDto })
  @ApiFilters()
  async list(
    @CurrentCaller() { tenantId }: Caller,
    @Query() { limit, cursor }: CursorPageQueryDto,
  ): Promise<InvitationListDto> {
    const after = readCursor(cursor, ['time', 'uuid']);
    const rows = await this.invitations.list(tenantId, limit + 1, after);
    return toCursorPage(rows, limit, ({ createdAt, id }) => [createdAt, id], toInvitation);
  }

  @Post()
  @ReadsJsonBody()
  @ApiOperation({
    operationId: 'inviteMember',
    summary: 'Invite a member',
    description:
      'Whoever logs in with this e-mail address gets the role. The login service must report the address as verified.',
  })
  @ApiCreatedResponse({ type: InvitationDto })
  @ApiFields(InviteMemberDto, {
    'A developer': { email: 'ada@acme.example', role: 'developer' },
  })
  @ApiErrorResponse(
    403,
    'A management key is required, and the role must have no rights that the caller lacks.',
  )
  @ApiErrorResponse(409, 'The address is invited, or has a role, already.')
  async invite(
    @CurrentCaller() caller: Caller,
    @CurrentAuthor() author: Author,
    @Body() { email, role }: InviteMemberDto,
  ): Promise<InvitationDto> {
    requireRightsOf(caller, role);
    const { tenantId } = caller;
    return toInvitation(await this.invitations.invite(author, email, { tenantId, role }));
  }

  @Delete(':id')
  @HttpCode(204)
  @ApiOperation({ operationId: 'withdrawInvitation', summary: 'Withdraw an open invitation' })
  @ApiNoContentResponse({ description: 'The invitation is no longer valid.' })
  @ApiOwn('open invitation')
  async withdraw(
    @CurrentCaller() { tenantId }: Caller,
    @CurrentAuthor() author: Author,
    @Param('id') id: string,
  ): Promise<void> {
    assertUuid(id, 'open invitation');
    await this.invitations.withdraw(author, tenantId, id);
  }
}

function assertUuid(id: string, noun: string): void {
  if (!isUuid(id)) throw new NotFoundError('id', `The tenant has no ${noun} with this id.`);
}
