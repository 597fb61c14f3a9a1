import { Body, Controller, Delete, Get, Param, Post } from '@nestjs/common';
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
import { CreateProviderCredentialDto } from './dto/create-provider-credential.dto.js';
import {
  DeletedProviderCredentialDto,
  ProviderCredentialDto,
  ProviderCredentialListDto,
} from './dto/provider-credential.dto.js';
import { ProviderCredentialsService } from './provider-credentials.service.js';

const RESTRICTED = 'Changes need a management key on this gateway.';

@ApiTags('Customer')
@Customer()
@Controller('v1/customer/provider-credentials')
export class ProviderCredentialsController {
  constructor(private readonly credentials: ProviderCredentialsService) {}

  @Get()
  @ApiOperation({ summary: "List the tenant's own accounts with providers, without their keys" })
  @ApiOkResponse({ type: ProviderCredentialListDto })
  async list(@CurrentCaller() caller: Caller): Promise<ProviderCredentialListDto> {
    return { data: await this.credentials.list(caller) };
  }

  @Post()
  @ReadsJsonBody()
  @ApiOperation({
    summary: 'Store an own account with a provider',
    description:
      "Requests go over it before the provider's shared capacity: at once, on other instances " +
      'within a second. Of several with one provider the newest is tried first.',
  })
  @ApiCreatedResponse({ type: ProviderCredentialDto })
  @ApiErrorResponse(400, 'A field is missing, malformed or unknown, as `settings.region`.')
  @ApiErrorResponse(403, RESTRICTED)
  create(
    @CurrentCaller() caller: Caller,
    @Body() body: CreateProviderCredentialDto,
  ): Promise<ProviderCredentialDto> {
    return this.credentials.create(caller, body);
  }

  @Delete(':id')
  @ApiOperation({ summary: 'Delete an own account with a provider, and its key' })
  @ApiParam({ name: 'id', format: 'uuid' })
  @ApiOkResponse({ type: DeletedProviderCredentialDto })
  @ApiErrorResponse(403, RESTRICTED)
  @ApiErrorResponse(404, 'The tenant has no credential with this id.')
  delete(
    @CurrentCaller() caller: Caller,
    @Param('id') id: string,
  ): Promise<DeletedProviderCredentialDto> {
    return this.credentials.delete(caller, id);
  }
}
