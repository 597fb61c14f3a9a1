import { Body, Controller, Delete, Get, Param, Post } from '@nestjs/common';
import { ApiCreatedResponse, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { type Caller } from '../../../core/access/caller.js';
import { CurrentAuthor, type Author } from '../../../core/access/author.js';
import { CurrentCaller } from '../../../core/access/gateway-request.js';
import { Customer, ApiChange, ApiFields, ApiOwn } from '../../../core/access/customer.decorator.js';
import { ReadsJsonBody } from '../../../platform/http/read-json-body.js';
import {
  DeletedProviderCredentialDto,
  ProviderCredentialDto,
  ProviderCredentialListDto,
  CreateProviderCredentialDto,
} from './provider-credentials.dto.js';
import { ProviderCredentialsService } from './provider-credentials.service.js';
import { Members } from '../../../core/people/roles.js';

@ApiTags('Customer')
@Customer()
@Members('read')
@Controller('v1/customer/provider-credentials')
export class ProviderCredentialsController {
  constructor(private readonly credentials: ProviderCredentialsService) {}

  @Get()
  @ApiOperation({
    operationId: 'listProviderCredentials',
    summary: "List the tenant's own accounts with providers, without their keys",
  })
  @ApiOkResponse({ type: ProviderCredentialListDto })
  async list(@CurrentCaller() caller: Caller): Promise<ProviderCredentialListDto> {
    return { data: await this.credentials.list(caller) };
  }

  @Post()
  @Members('own')
  @ReadsJsonBody()
  @ApiOperation({
    operationId: 'createProviderCredential',
    summary: 'Store an own account with a provider',
    description:
      "Requests go over it before the provider's shared capacity: at once, on other instances " +
      'within a second. Of several with one provider the newest is tried first.',
  })
  @ApiCreatedResponse({ type: ProviderCredentialDto })
  @ApiFields(
    CreateProviderCredentialDto,
    { 'An account of your own': { provider: 'a-provider', name: 'ours', key: 'sk-…' } },
    'settings.region',
  )
  @ApiChange()
  create(
    @CurrentCaller() caller: Caller,
    @CurrentAuthor() author: Author,
    @Body() body: CreateProviderCredentialDto,
  ): Promise<ProviderCredentialDto> {
    return this.credentials.create(caller, author, body);
  }

  @Delete(':id')
  @Members('own')
  @ApiOperation({
    operationId: 'deleteProviderCredential',
    summary: 'Delete an own account with a provider, and its key',
  })
  @ApiOkResponse({ type: DeletedProviderCredentialDto })
  @ApiChange()
  @ApiOwn('credential')
  delete(
    @CurrentCaller() caller: Caller,
    @CurrentAuthor() author: Author,
    @Param('id') id: string,
  ): Promise<DeletedProviderCredentialDto> {
    return this.credentials.delete(caller, author, id);
  }
}
