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
import { Members } from '../../../core/access/roles.js';

@ApiTags('Customer')
@Customer()
@Members('read')
@Controller('v1/customer/provider-credentials')
export class ProviderCredentialsController {
  constructor(private readonly credentials: ProviderCredentialsService) {}

  @Get()
  @ApiOperation({
    operationId: 'listProviderCredentials',
    summary: "List the tenant's provider credentials, without keys",
  })
  @ApiOkResponse({ type: ProviderCredentialListDto })
  async list(@CurrentCaller() caller: Caller): Promise<ProviderCredentialListDto> {
    return { data: await this.credentials.list(caller) };
  }

  @Get('providers')
  @ApiOperation({
    operationId: 'listAccountProviders',
    summary: 'List providers that support BYOK accounts',
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
    summary: 'Store a provider credential',
    description:
      "Requests use this account before the provider's shared capacity: at once, on other instances " +
      'within a second. Of several accounts the newest is tried first, unless one has a ' +
      'weight or a limit: then requests are spread by weight and load. The key is first checked with a ' +
      'free call: a key that the vendor rejects is a 400 `invalid_provider_key` and is not stored, ' +
      'unless `check` is false. If the vendor does not respond, the key is stored; see `check` in the response.',
  })
  @ApiCreatedResponse({ type: CreatedProviderCredentialDto })
  @ApiFields(
    CreateProviderCredentialDto,
    {
      'A BYOK account': { provider: 'a-provider', name: 'ours', key: 'sk-…' },
      'One of several, with limits': {
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
    summary: 'Test a provider credential before storing it',
    description: 'Makes a free call within 10 s. Stores nothing.',
  })
  @ApiOkResponse({ type: AccountCheckDto })
  @ApiFields(
    TestProviderCredentialDto,
    { 'A BYOK account': { provider: 'a-provider', key: 'sk-…' } },
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
    summary: 'Test a stored provider credential',
    description: 'Makes a free call within 10 s.',
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
    summary: 'Change the weight and limits of a provider credential',
    description:
      'Applies at once, on other instances within a second. Absent fields keep their values. The key cannot be changed.',
  })
  @ApiOkResponse({ type: ProviderCredentialDto })
  @ApiFields(UpdateProviderCredentialDto, {
    'A larger share': { weight: 5 },
    'Remove a limit': { requests_per_minute: null },
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
    summary: 'Delete a provider credential and its key',
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
