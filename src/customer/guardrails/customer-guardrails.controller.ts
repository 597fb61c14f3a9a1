import { Body, Controller, Delete, Get, Param, Post, Put } from '@nestjs/common';
import {
  ApiCreatedResponse,
  ApiOkResponse,
  ApiOperation,
  ApiParam,
  ApiTags,
} from '@nestjs/swagger';
import { type Caller } from '../../access/caller.js';
import { CurrentCaller } from '../../access/current-caller.decorator.js';
import { Customer } from '../../access/customer.decorator.js';
import { ApiErrorResponse } from '../../common/errors/api-error-response.decorator.js';
import { ReadsJsonBody } from '../../common/http/json-body.interceptor.js';
import { CreateGuardrailDto } from './dto/create-guardrail.dto.js';
import {
  CreatedGuardrailDto,
  DeletedGuardrailDto,
  GuardrailDto,
  GuardrailListDto,
} from './dto/guardrail.dto.js';
import { UpdateGuardrailDto } from './dto/update-guardrail.dto.js';
import { CustomerGuardrailsService } from './customer-guardrails.service.js';

const ID = { name: 'id', format: 'uuid' };
const UNKNOWN = 'The tenant has no guardrail with this id.';
const INVALID = 'A field is missing, malformed or unknown; `param` names it, as `rules.0.pattern`.';
const RESTRICTED = 'Changes need a management key on this gateway.';

@ApiTags('Customer')
@Customer()
@Controller('v1/customer/guardrails')
export class CustomerGuardrailsController {
  constructor(private readonly guardrails: CustomerGuardrailsService) {}

  @Get()
  @ApiOperation({ summary: "List the tenant's guardrails" })
  @ApiOkResponse({ type: GuardrailListDto })
  async list(@CurrentCaller() caller: Caller): Promise<GuardrailListDto> {
    return { data: await this.guardrails.list(caller) };
  }

  @Post()
  @ReadsJsonBody()
  @ApiOperation({
    summary: 'Create a guardrail',
    description: 'It holds at once, on other instances within a second.',
  })
  @ApiCreatedResponse({ type: CreatedGuardrailDto })
  @ApiErrorResponse(400, INVALID)
  @ApiErrorResponse(403, RESTRICTED)
  create(
    @CurrentCaller() caller: Caller,
    @Body() body: CreateGuardrailDto,
  ): Promise<CreatedGuardrailDto> {
    return this.guardrails.create(caller, body);
  }

  @Get(':id')
  @ApiOperation({ summary: 'Read a guardrail' })
  @ApiParam(ID)
  @ApiOkResponse({ type: GuardrailDto })
  @ApiErrorResponse(404, UNKNOWN)
  get(@CurrentCaller() caller: Caller, @Param('id') id: string): Promise<GuardrailDto> {
    return this.guardrails.get(caller, id);
  }

  @Put(':id')
  @ReadsJsonBody()
  @ApiOperation({
    summary: 'Change a guardrail',
    description: 'What is left out stays as it is; `rules` are replaced as a whole.',
  })
  @ApiParam(ID)
  @ApiOkResponse({ type: GuardrailDto })
  @ApiErrorResponse(400, INVALID)
  @ApiErrorResponse(403, RESTRICTED)
  @ApiErrorResponse(404, UNKNOWN)
  update(
    @CurrentCaller() caller: Caller,
    @Param('id') id: string,
    @Body() body: UpdateGuardrailDto,
  ): Promise<GuardrailDto> {
    return this.guardrails.update(caller, id, body);
  }

  @Delete(':id')
  @ApiOperation({ summary: 'Delete a guardrail' })
  @ApiParam(ID)
  @ApiOkResponse({ type: DeletedGuardrailDto })
  @ApiErrorResponse(403, RESTRICTED)
  @ApiErrorResponse(404, UNKNOWN)
  delete(@CurrentCaller() caller: Caller, @Param('id') id: string): Promise<DeletedGuardrailDto> {
    return this.guardrails.delete(caller, id);
  }
}
