import { Body, Controller, Delete, Get, Param, Patch, Post, Query } from '@nestjs/common';
import { ApiCreatedResponse, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { readExpiry } from '../../../core/access/api-key.js';
import { CurrentAuthor, type Author } from '../../../core/access/author.js';
import { ApiFields, ApiFilters } from '../../../core/access/customer.decorator.js';
import { Operator } from '../../../core/access/operator.decorator.js';
import { DEFAULT_RATE_LIMIT_PER_MINUTE } from '../../../platform/config/setting-values.js';
import { CursorPageQueryDto } from '../../../platform/http/cursor-page.js';
import { ReadsJsonBody } from '../../../platform/http/read-json-body.js';
import { ApiTenant } from './api-tenant.decorator.js';
import {
  CreatedTenantKeyDto,
  CreateTenantKeyDto,
  TenantKeyDto,
  TenantKeyListDto,
  UpdateTenantKeyDto,
} from './tenant-keys.dto.js';
import { TenantKeys } from './tenant-keys.service.js';

const ApiTenantKey = (): MethodDecorator => ApiTenant({ param: 'key_id', noun: 'API key' });

@ApiTags('Admin')
@Operator()
@Controller('v1/admin/tenants/:tenant_id/api-keys')
export class TenantKeysController {
  constructor(private readonly keys: TenantKeys) {}

  @Get()
  @ApiOperation({ operationId: 'listTenantKeys', summary: "List a tenant's API keys" })
  @ApiOkResponse({ type: TenantKeyListDto })
  @ApiFilters()
  @ApiTenant()
  list(
    @Param('tenant_id') tenantId: string,
    @Query() query: CursorPageQueryDto,
  ): Promise<TenantKeyListDto> {
    return this.keys.list(tenantId, query);
  }

  @Post()
  @ReadsJsonBody()
  @ApiOperation({
    operationId: 'createTenantKey',
    summary: 'Create an API key for a tenant',
    description: 'Only this response contains the key.',
  })
  @ApiCreatedResponse({ type: CreatedTenantKeyDto })
  @ApiFields(CreateTenantKeyDto, {
    'A key with a limit': { name: 'billing service', rate_limit_per_minute: 6_000 },
  })
  @ApiTenant()
  create(
    @CurrentAuthor() author: Author,
    @Param('tenant_id') tenantId: string,
    @Body() body: CreateTenantKeyDto,
  ): Promise<CreatedTenantKeyDto> {
    return this.keys.create(author, tenantId, {
      type: body.type ?? 'routing',
      name: body.name,
      rateLimitPerMinute: body.rate_limit_per_minute ?? DEFAULT_RATE_LIMIT_PER_MINUTE,
      expiresAt: readExpiry(body.expires_at) ?? null,
      monthlySpendLimit: body.monthly_spend_limit ?? null,
    });
  }

  @Get(':key_id')
  @ApiOperation({ operationId: 'getTenantKey', summary: 'Get an API key of a tenant' })
  @ApiOkResponse({ type: TenantKeyDto })
  @ApiTenantKey()
  get(@Param('tenant_id') tenantId: string, @Param('key_id') keyId: string): Promise<TenantKeyDto> {
    return this.keys.get(tenantId, keyId);
  }

  @Patch(':key_id')
  @ReadsJsonBody()
  @ApiOperation({
    operationId: 'updateTenantKey',
    summary: 'Change the name, the expiry or the limits of an API key',
    description: 'Only operators can change `rate_limit_per_minute`. Applies within a second.',
  })
  @ApiOkResponse({ type: TenantKeyDto })
  @ApiFields(UpdateTenantKeyDto, {
    'Raise the rate limit': { rate_limit_per_minute: 6_000 },
    'At most 5 USD a month': { monthly_spend_limit: 5_000_000 },
    'Remove the expiry': { expires_at: null },
  })
  @ApiTenantKey()
  update(
    @CurrentAuthor() author: Author,
    @Param('tenant_id') tenantId: string,
    @Param('key_id') keyId: string,
    @Body() body: UpdateTenantKeyDto,
  ): Promise<TenantKeyDto> {
    return this.keys.update(author, tenantId, keyId, {
      name: body.name,
      expiresAt: readExpiry(body.expires_at),
      rateLimitPerMinute: body.rate_limit_per_minute,
      monthlySpendLimit: body.monthly_spend_limit,
    });
  }

  @Delete(':key_id')
  @ApiOperation({
    operationId: 'revokeTenantKey',
    summary: 'Revoke an API key of a tenant',
    description:
      'Takes effect within a second, also for keys it created. The key stays listed as revoked. ' +
      'Idempotent.',
  })
  @ApiOkResponse({ type: TenantKeyDto })
  @ApiTenantKey()
  revoke(
    @CurrentAuthor() author: Author,
    @Param('tenant_id') tenantId: string,
    @Param('key_id') keyId: string,
  ): Promise<TenantKeyDto> {
    return this.keys.revoke(author, tenantId, keyId);
  }
}
