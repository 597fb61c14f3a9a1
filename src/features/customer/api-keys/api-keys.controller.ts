import { Body, Controller, Delete, Get, Param, Patch, Post, Res } from '@nestjs/common';
import { ApiCreatedResponse, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { type Caller } from '../../../core/access/caller.js';
import { CurrentAuthor, type Author } from '../../../core/access/author.js';
import { CurrentCaller } from '../../../core/access/gateway-request.js';
import { Customer, ApiChange, ApiFields, ApiOwn } from '../../../core/access/customer.decorator.js';
import { ReadsJsonBody } from '../../../platform/http/read-json-body.js';
import { sendTextStream } from '../../../platform/http/send-body.js';
import { ApiKeysService } from './api-keys.service.js';
import {
  UpdateApiKeyDto,
  CreateApiKeyDto,
  ApiKeyDto,
  ApiKeyListDto,
  CreatedApiKeyDto,
} from './api-keys.dto.js';
import { Members } from '../../../core/access/roles.js';

@ApiTags('Customer')
@Customer()
@Members('read')
@Controller('v1/customer/api-keys')
export class ApiKeysController {
  constructor(private readonly apiKeys: ApiKeysService) {}

  @Get()
  @ApiOperation({ operationId: 'listApiKeys', summary: "List the tenant's API keys" })
  @ApiOkResponse({ type: ApiKeyListDto })
  list(@CurrentCaller() caller: Caller, @Res() response: Response): Promise<void> {
    const headers = { 'content-type': 'application/json; charset=utf-8' };
    return sendTextStream(response, headers, this.apiKeys.list(caller));
  }

  @Post()
  @Members('develop')
  @ReadsJsonBody()
  @ApiOperation({
    operationId: 'createApiKey',
    summary: 'Create an API key',
    description: 'Only this response contains the key.',
  })
  @ApiCreatedResponse({ type: CreatedApiKeyDto })
  @ApiFields(CreateApiKeyDto, {
    'A key with a limit': { name: 'billing service', rate_limit_per_minute: 600 },
    'A key that expires and can spend 5 USD a month': {
      name: 'a month of trial',
      expires_at: '2030-12-31T23:59:59Z',
      monthly_spend_limit: 5_000_000,
    },
  })
  @ApiChange('the new key would have more rights or a higher limit than the caller')
  create(
    @CurrentCaller() caller: Caller,
    @CurrentAuthor() author: Author,
    @Body() body: CreateApiKeyDto,
  ): Promise<CreatedApiKeyDto> {
    return this.apiKeys.create(caller, author, body);
  }

  @Get(':id')
  @ApiOperation({ operationId: 'getApiKey', summary: 'Get an API key' })
  @ApiOkResponse({ type: ApiKeyDto })
  @ApiOwn('key')
  get(@CurrentCaller() caller: Caller, @Param('id') id: string): Promise<ApiKeyDto> {
    return this.apiKeys.get(caller, id);
  }

  @Patch(':id')
  @Members('develop')
  @ReadsJsonBody()
  @ApiOperation({
    operationId: 'updateApiKey',
    summary: 'Change the name or the expiry of an API key',
  })
  @ApiOkResponse({ type: ApiKeyDto })
  @ApiFields(UpdateApiKeyDto, {
    Rename: { name: 'billing service' },
    'Remove the expiry': { expires_at: null },
  })
  @ApiChange('only management keys can change management keys')
  @ApiOwn('key')
  update(
    @CurrentCaller() caller: Caller,
    @CurrentAuthor() author: Author,
    @Param('id') id: string,
    @Body() body: UpdateApiKeyDto,
  ): Promise<ApiKeyDto> {
    return this.apiKeys.update(caller, author, id, body);
  }

  @Delete(':id')
  @Members('develop')
  @ApiOperation({
    operationId: 'revokeApiKey',
    summary: 'Revoke an API key',
    description: 'Takes effect at once. The key stays listed as revoked. Idempotent.',
  })
  @ApiOkResponse({ type: ApiKeyDto })
  @ApiChange('only management keys can revoke management keys')
  @ApiOwn('key')
  revoke(
    @CurrentCaller() caller: Caller,
    @CurrentAuthor() author: Author,
    @Param('id') id: string,
  ): Promise<ApiKeyDto> {
    return this.apiKeys.revoke(caller, author, id);
  }
}
