import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post, Query } from '@nestjs/common';
import { ApiCreatedResponse, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { type Caller } from '../../../core/access/caller.js';
import { CurrentAuthor, type Author } from '../../../core/access/author.js';
import { CurrentCaller } from '../../../core/access/gateway-request.js';
import { Customer, ApiChange, ApiFields, ApiOwn } from '../../../core/access/customer.decorator.js';
import { AccountCheckDto } from '../../../core/credentials/account-check.dto.js';
import { ReadsJsonBody } from '../../../platform/http/read-json-body.js';
import {
  AccountProviderListDto,
  CheckKeyQueryDto,
  CreatedProviderCredentialDto,
  DeletedProviderCredentialDto,
  ProviderCredentialDto,
  ProviderCredentialListDto,
  CreateProviderCredentialDto,
  TestProviderCredentialDto,
  UpdateProviderCredentialDto,
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

  @Get('providers')
  @ApiOperation({
    operationId: 'listAccountProviders',
    summary: 'List the providers with which a tenant may have an account of its own',
  })
  @ApiOkResponse({ type: AccountProviderListDto })
  offers(): AccountProviderListDto {
    return { data: this.credentials.offers() };
  }

  @Post()
  @Members('own')
  @ReadsJsonBody()
  @ApiOperation({
    operationId: 'createProviderCredential',
    summary: 'Store an own account with a provider',
    description:
      "Requests go over it before the provider's shared capacity: at once, on other instances " +
      'within a second. Of several with one provider the newest is tried first, unless one has a ' +
      'weight or a limit: then requests are spread among them by weight and load. The key is tried first, by one ' +
      'real call that costs nothing: what the vendor refuses is a 400 `invalid_provider_key` and is not stored, ' +
      'unless `check` is false; where the vendor does not answer it is stored, and `check` of the answer says so.',
  })
  @ApiCreatedResponse({ type: CreatedProviderCredentialDto })
  @ApiFields(
    CreateProviderCredentialDto,
    {
      'An account of your own': { provider: 'a-provider', name: 'ours', key: 'sk-…' },
      'One of several, with its limits': {
        provider: 'a-provider',
        key: 'sk-…',
        weight: 3,
        requests_per_minute: 500,
        tokens_per_minute: 200_000,
      },
    },
    'settings.region',
  )
  @ApiChange()
  create(
    @CurrentCaller() caller: Caller,
    @CurrentAuthor() author: Author,
    @Query() { check }: CheckKeyQueryDto,
    @Body() body: CreateProviderCredentialDto,
  ): Promise<CreatedProviderCredentialDto> {
    const wish = check === undefined ? {} : { check: check === 'true' };
    return this.credentials.create(caller, author, { ...wish, ...body });
  }

  @Post('test')
  @HttpCode(200)
  @Members('own')
  @ReadsJsonBody()
  @ApiOperation({
    operationId: 'testProviderCredential',
    summary: 'Try an own account with a provider before it is stored',
    description: 'By one real call that costs nothing, within 10 s. Nothing is stored.',
  })
  @ApiOkResponse({ type: AccountCheckDto })
  @ApiFields(
    TestProviderCredentialDto,
    { 'An account of your own': { provider: 'a-provider', key: 'sk-…' } },
    'settings.region',
  )
  @ApiChange()
  test(@Body() body: TestProviderCredentialDto): Promise<AccountCheckDto> {
    return this.credentials.test(body);
  }

  @Post(':id/test')
  @HttpCode(200)
  @Members('own')
  @ApiOperation({
    operationId: 'testStoredProviderCredential',
    summary: 'Try an own account with a provider that is stored',
    description: 'By one real call that costs nothing, within 10 s.',
  })
  @ApiOkResponse({ type: AccountCheckDto })
  @ApiChange()
  @ApiOwn('credential')
  testStored(@CurrentCaller() caller: Caller, @Param('id') id: string): Promise<AccountCheckDto> {
    return this.credentials.testStored(caller, id);
  }

  @Patch(':id')
  @Members('own')
  @ReadsJsonBody()
  @ApiOperation({
    operationId: 'updateProviderCredential',
    summary: 'Change the weight and the limits of an own account with a provider',
    description:
      'They hold at once, on other instances within a second. What is absent stays as it is. The key cannot be changed.',
  })
  @ApiOkResponse({ type: ProviderCredentialDto })
  @ApiFields(UpdateProviderCredentialDto, {
    'A larger share': { weight: 5 },
    'No limit any more': { requests_per_minute: null },
  })
  @ApiChange()
  @ApiOwn('credential')
  update(
    @CurrentCaller() caller: Caller,
    @CurrentAuthor() author: Author,
    @Param('id') id: string,
    @Body() body: UpdateProviderCredentialDto,
  ): Promise<ProviderCredentialDto> {
    return this.credentials.update(caller, author, id, body);
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
