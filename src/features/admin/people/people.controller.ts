import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post, Query } from '@nestjs/common';
import {
  ApiCreatedResponse,
  ApiNoContentResponse,
  ApiOkResponse,
  ApiOperation,
  ApiParam,
  ApiTags,
} from '@nestjs/swagger';
import { CurrentAuthor, type Author } from '../../../core/access/author.js';
import { ApiFields, ApiFilters } from '../../../core/access/customer.decorator.js';
import { Operator } from '../../../core/access/operator.decorator.js';
import { InvitationsService } from '../../../core/people/invitations.service.js';
import {
  InvitationDto,
  InvitationListDto,
  InviteOperatorDto,
  toInvitation,
} from '../../../core/people/members.dto.js';
import { PeopleService } from '../../../core/people/people.service.js';
import { isUuid } from '../../../platform/database/stored-text.js';
import { ApiErrorResponse } from '../../../platform/errors/error-response.js';
import { NotFoundError } from '../../../platform/errors/gateway-errors.js';
import {
  CursorPageQueryDto,
  readCursor,
  toCursorPage,
} from '../../../platform/http/cursor-page.js';
import { ReadsJsonBody } from '../../../platform/http/read-json-body.js';
import {
  EndedSessionsDto,
  PersonDto,
  PersonListDto,
  toPerson,
  UpdatePersonDto,
} from './people.dto.js';

@ApiTags('Admin')
@Operator()
@Controller('v1/admin/people')
export class PeopleController {
  constructor(
    private readonly people: PeopleService,
    private readonly invitations: InvitationsService,
  ) {}

  @Get()
  @ApiOperation({
    operationId: 'listPeople',
    summary: 'List people',
    description: 'Everyone who has logged in at least once, with their roles.',
  })
  @ApiOkResponse({ type: PersonListDto })
  @ApiFilters()
  async list(@Query() { limit, cursor }: CursorPageQueryDto): Promise<PersonListDto> {
    const rows = await this.people.list(limit + 1, readCursor(cursor, ['time', 'uuid']));
    return toCursorPage(rows, limit, ({ createdAt, id }) => [createdAt, id], toPerson);
  }

  @Get('invitations')
  @ApiOperation({
    operationId: 'listOperatorInvitations',
    summary: 'List open operator invitations',
  })
  @ApiOkResponse({ type: InvitationListDto })
  @ApiFilters()
  async listInvitations(
    @Query() { limit, cursor }: CursorPageQueryDto,
  ): Promise<InvitationListDto> {
    const after = readCursor(cursor, ['time', 'uuid']);
    const rows = await this.invitations.list(null, limit + 1, after);
    return toCursorPage(rows, limit, ({ createdAt, id }) => [createdAt, id], toInvitation);
  }

  @Post('invitations')
  @ReadsJsonBody()
  @ApiOperation({
    operationId: 'inviteOperator',
    summary: 'Invite an operator',
    description:
      'Whoever logs in with this e-mail address gets the role. The login service must report the address as verified.',
  })
  @ApiCreatedResponse({ type: InvitationDto })
  @ApiFields(InviteOperatorDto, {
    'An auditor': { email: 'grace@operator.example', role: 'auditor' },
  })
  @ApiErrorResponse(409, 'The address is already invited or an operator.')
  async invite(
    @CurrentAuthor() author: Author,
    @Body() { email, role }: InviteOperatorDto,
  ): Promise<InvitationDto> {
    return toInvitation(await this.invitations.invite(author, email, { tenantId: null, role }));
  }

  @Delete('invitations/:id')
  @HttpCode(204)
  @ApiOperation({
    operationId: 'withdrawOperatorInvitation',
    summary: 'Withdraw an open operator invitation',
  })
  @ApiParam({ name: 'id', format: 'uuid' })
  @ApiNoContentResponse({ description: 'The invitation is no longer valid.' })
  @ApiErrorResponse(404, 'There is no open invitation with this id.')
  async withdraw(@CurrentAuthor() author: Author, @Param('id') id: string): Promise<void> {
    if (!isUuid(id)) throw new NotFoundError('id', 'There is no open invitation with this id.');
    await this.invitations.withdraw(author, null, id);
  }

  @Get(':id')
  @ApiOperation({ operationId: 'getPerson', summary: 'Get a person' })
  @ApiOkResponse({ type: PersonDto })
  @ApiPerson()
  async get(@Param('id') id: string): Promise<PersonDto> {
    return toPerson(await this.people.get(personId(id)));
  }

  @Patch(':id')
  @ReadsJsonBody()
  @ApiOperation({
    operationId: 'updatePerson',
    summary: "Change an operator's role, or disable a person",
    description: 'Disabling a person ends their access everywhere within a second.',
  })
  @ApiOkResponse({ type: PersonDto })
  @ApiFields(UpdatePersonDto, {
    'Make read-only': { operator_role: 'auditor' },
    'Remove and disable': { operator_role: null, is_disabled: true },
  })
  @ApiPerson()
  async update(
    @CurrentAuthor() author: Author,
    @Param('id') id: string,
    @Body() body: UpdatePersonDto,
  ): Promise<PersonDto> {
    const { operator_role: operatorRole, is_disabled: isDisabled } = body;
    return toPerson(await this.people.change(author, personId(id), { operatorRole, isDisabled }));
  }

  @Delete(':id/sessions')
  @ApiOperation({ operationId: 'endSessionsOfPerson', summary: 'End all sessions of a person' })
  @ApiOkResponse({ type: EndedSessionsDto })
  @ApiPerson()
  async endSessions(
    @CurrentAuthor() author: Author,
    @Param('id') id: string,
  ): Promise<EndedSessionsDto> {
    return { ended: await this.people.endSessions(author, personId(id)) };
  }
}

function ApiPerson(): MethodDecorator {
  return (...target) => {
    ApiParam({ name: 'id', format: 'uuid' })(...target);
    ApiErrorResponse(404, 'There is no person with this id.')(...target);
  };
}

function personId(id: string): string {
  if (isUuid(id)) return id;
  throw new NotFoundError('id', 'There is no person with this id.');
}
