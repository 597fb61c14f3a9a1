import { Body, Controller, Delete, Get, HttpCode, Param, Post, Put } from '@nestjs/common';
import { ApiCreatedResponse, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { type Caller } from '../../../core/access/caller.js';
import { CurrentAuthor, type Author } from '../../../core/access/author.js';
import { CurrentCaller } from '../../../core/access/gateway-request.js';
import { Customer, ApiChange, ApiFields, ApiOwn } from '../../../core/access/customer.decorator.js';
import { ReadsJsonBody } from '../../../platform/http/read-json-body.js';
import {
  UpdateGuardrailDto,
  CreateGuardrailDto,
  CreatedGuardrailDto,
  DeletedGuardrailDto,
  GuardrailDto,
  GuardrailListDto,
} from './guardrails.dto.js';
import { CustomerGuardrailsService } from './customer-guardrails.service.js';
import { GuardrailTestDto, TestGuardrailsDto } from './guardrail-test.dto.js';
import { Members } from '../../../core/access/roles.js';

const GUARDRAIL = 'guardrail';
/** Example of a field in errors. */
const FIELD = 'rules.0.pattern';

@ApiTags('Customer')
@Customer()
@Members('read')
@Controller('v1/customer/guardrails')
export class CustomerGuardrailsController {
  constructor(private readonly guardrails: CustomerGuardrailsService) {}

  @Get()
  @ApiOperation({ operationId: 'listGuardrails', summary: "List the tenant's guardrails" })
  @ApiOkResponse({ type: GuardrailListDto })
  async list(@CurrentCaller() caller: Caller): Promise<GuardrailListDto> {
    return { data: await this.guardrails.list(caller) };
  }

  @Post()
  @Members('develop')
  @ReadsJsonBody()
  @ApiOperation({
    operationId: 'createGuardrail',
    summary: 'Create a guardrail',
    description: 'Applies at once, on other instances within a second.',
  })
  @ApiCreatedResponse({ type: CreatedGuardrailDto })
  @ApiFields(
    CreateGuardrailDto,
    {
      'Blocked words': {
        name: 'no project names',
        rules: [{ type: 'regex', pattern: 'project\\s+falcon', flags: 'i' }],
      },
      'Personal data, logged in both directions': {
        name: 'personal data',
        rules: [{ type: 'pii', entities: ['email'] }],
        action: 'log',
        applies_to: ['input', 'output'],
      },
    },
    FIELD,
  )
  @ApiChange()
  create(
    @CurrentCaller() caller: Caller,
    @CurrentAuthor() author: Author,
    @Body() body: CreateGuardrailDto,
  ): Promise<CreatedGuardrailDto> {
    return this.guardrails.create(caller, author, body);
  }

  @Post('test')
  @HttpCode(200)
  @Members('develop')
  @ReadsJsonBody()
  @ApiOperation({
    operationId: 'testGuardrails',
    summary: 'Test guardrails on a text',
    description:
      'Uses the enabled guardrails, or `rules` that are not stored yet. Nothing is stored, sent to a model or counted.',
  })
  @ApiOkResponse({ type: GuardrailTestDto })
  @ApiFields(
    TestGuardrailsDto,
    {
      'The guardrails of the account': { text: 'Write to ada@example.com' },
      'A new rule': {
        text: 'Project Falcon starts in May.',
        rules: [{ type: 'regex', pattern: 'project\\s+falcon', flags: 'i' }],
      },
    },
    FIELD,
  )
  @ApiChange()
  test(
    @CurrentCaller() caller: Caller,
    @Body() body: TestGuardrailsDto,
  ): Promise<GuardrailTestDto> {
    return this.guardrails.test(caller, body);
  }

  @Get(':id')
  @ApiOperation({ operationId: 'getGuardrail', summary: 'Get a guardrail' })
  @ApiOkResponse({ type: GuardrailDto })
  @ApiOwn(GUARDRAIL)
  get(@CurrentCaller() caller: Caller, @Param('id') id: string): Promise<GuardrailDto> {
    return this.guardrails.get(caller, id);
  }

  @Put(':id')
  @Members('develop')
  @ReadsJsonBody()
  @ApiOperation({
    operationId: 'updateGuardrail',
    summary: 'Update a guardrail',
    description: 'Omitted fields keep their values. `rules` are replaced as a whole.',
  })
  @ApiOkResponse({ type: GuardrailDto })
  @ApiFields(UpdateGuardrailDto, { 'Disable for now': { is_enabled: false } }, FIELD)
  @ApiChange()
  @ApiOwn(GUARDRAIL)
  update(
    @CurrentCaller() caller: Caller,
    @CurrentAuthor() author: Author,
    @Param('id') id: string,
    @Body() body: UpdateGuardrailDto,
  ): Promise<GuardrailDto> {
    return this.guardrails.update(caller, author, id, body);
  }

  @Delete(':id')
  @Members('develop')
  @ApiOperation({ operationId: 'deleteGuardrail', summary: 'Delete a guardrail' })
  @ApiOkResponse({ type: DeletedGuardrailDto })
  @ApiChange()
  @ApiOwn(GUARDRAIL)
  delete(
    @CurrentCaller() caller: Caller,
    @CurrentAuthor() author: Author,
    @Param('id') id: string,
  ): Promise<DeletedGuardrailDto> {
    return this.guardrails.delete(caller, author, id);
  }
}
