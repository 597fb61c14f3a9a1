import { Body, Controller, Delete, Get, Param, Patch, Post, Query } from '@nestjs/common';
import { ApiCreatedResponse, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { CurrentAuthor, type Author } from '../../../core/access/author.js';
import { ApiFields, ApiFilters } from '../../../core/access/customer.decorator.js';
import { Operator } from '../../../core/access/operator.decorator.js';
import { TenantsService, type TenantRecord } from '../../../core/tenants/tenants.service.js';
import { ApiErrorResponse } from '../../../platform/errors/error-response.js';
import { readCursor, toCursorPage } from '../../../platform/http/cursor-page.js';
import { ReadsJsonBody } from '../../../platform/http/read-json-body.js';
import { ApiTenant } from './api-tenant.decorator.js';
import { TenantEraser } from './tenant-eraser.service.js';
import { TenantKeys } from './tenant-keys.service.js';
import {
  CreatedTenantDto,
  CreateTenantDto,
  TenantDto,
  TenantListDto,
  TenantQueryDto,
  UpdateTenantDto,
} from './tenants.dto.js';
import { TenantsAdmin } from './tenants.service.js';

/** Format of each sort value in a cursor. */
const PLACES = {
  name: 'text',
  created_at: 'time',
  balance: 'integer',
  spent: 'integer',
  spent_this_month: 'integer',
} as const;

@ApiTags('Admin')
@Operator()
@Controller('v1/admin/tenants')
export class TenantsController {
  constructor(
    private readonly admin: TenantsAdmin,
    private readonly tenants: TenantsService,
    private readonly keys: TenantKeys,
    private readonly eraser: TenantEraser,
  ) {}

  @Get()
  @ApiOperation({
    operationId: 'listTenants',
    summary: 'List tenants with balance and spend',
    description: 'Newest first, unless `sort` and `order` say otherwise.',
  })
  @ApiOkResponse({ type: TenantListDto })
  @ApiFilters()
  async list(@Query() query: TenantQueryDto): Promise<TenantListDto> {
    const { limit, cursor, search, status, sort, order } = query;
    const behind = readCursor(cursor, [PLACES[sort], 'uuid']);
    const rows = await this.tenants.page({
      ...(search !== undefined && { search }),
      ...(status && { status }),
      sort,
      descending: order === 'desc',
      ...(behind && { after: { value: behind[0]!, id: behind[1]! } }),
      limit: limit + 1,
    });
    return toCursorPage(rows, limit, ({ place, id }) => [place, id], toTenant);
  }

  @Post()
  @ReadsJsonBody()
  @ApiOperation({
    operationId: 'createTenant',
    summary: 'Create a tenant with initial credits and keys',
    description: 'Only this response contains the keys.',
  })
  @ApiCreatedResponse({ type: CreatedTenantDto })
  @ApiFields(CreateTenantDto, {
    'Name only': { name: 'acme' },
    'With 10 USD and both kinds of key': {
      name: 'acme',
      credits: 10_000_000,
      memo: 'invoice 2026-118',
      keys: ['routing', 'management'],
    },
  })
  @ApiErrorResponse(409, 'A tenant with this name exists.')
  async create(
    @CurrentAuthor() author: Author,
    @Body() body: CreateTenantDto,
  ): Promise<CreatedTenantDto> {
    const made = await this.admin.create(author, {
      name: body.name,
      credits: body.credits ?? 0,
      memo: body.memo ?? null,
      monthlySpendLimit: body.monthly_spend_limit ?? null,
      keyTypes: body.keys ?? [],
    });
    const keys = made.keys.map(async ({ id, plaintext }) => ({
      ...(await this.keys.get(made.tenant.id, id)),
      key: plaintext,
    }));
    return { ...toTenant(made.tenant), keys: await Promise.all(keys) };
  }

  @Get(':tenant_id')
  @ApiOperation({ operationId: 'getTenant', summary: 'Get a tenant, also a deleted one' })
  @ApiOkResponse({ type: TenantDto })
  @ApiTenant()
  async get(@Param('tenant_id') id: string): Promise<TenantDto> {
    return toTenant(await this.admin.find(id));
  }

  @Patch(':tenant_id')
  @ReadsJsonBody()
  @ApiOperation({
    operationId: 'updateTenant',
    summary: 'Rename, suspend or resume a tenant, or set its monthly limit',
    description:
      "A suspended tenant's keys are read-only: model calls and changes return 403 on every " +
      'instance within a second. Answers in progress finish and are charged, and submitted ' +
      'jobs continue.',
  })
  @ApiOkResponse({ type: TenantDto })
  @ApiFields(UpdateTenantDto, {
    Rename: { name: 'acme' },
    Suspend: { status: 'suspended' },
    Resume: { status: 'active' },
    'At most 5 USD a month': { monthly_spend_limit: 5_000_000 },
  })
  @ApiTenant()
  @ApiErrorResponse(409, 'Another tenant has this name.')
  async update(
    @CurrentAuthor() author: Author,
    @Param('tenant_id') id: string,
    @Body() { name, status, monthly_spend_limit: monthlySpendLimit }: UpdateTenantDto,
  ): Promise<TenantDto> {
    return toTenant(await this.admin.update(author, id, { name, status, monthlySpendLimit }));
  }

  @Delete(':tenant_id')
  @ApiOperation({
    operationId: 'deleteTenant',
    summary: 'Delete a suspended tenant by anonymizing it',
    description:
      'Revokes its keys, replaces its name and deletes its data: webhook secrets and ' +
      'deliveries, destinations, credentials, guardrails, responses, conversations, stored content and the contents ' +
      'of jobs. A correction removes the remaining balance. Ledger entries and log rows ' +
      'stay as the books. End users and tags are removed from log rows; `erased_at` is set when ' +
      'all are. Cannot be undone. Idempotent.',
  })
  @ApiOkResponse({ type: TenantDto })
  @ApiTenant()
  @ApiErrorResponse(409, 'It has not been suspended for a few seconds, or has work in progress.')
  async delete(
    @CurrentAuthor() author: Author,
    @Param('tenant_id') id: string,
  ): Promise<TenantDto> {
    const deleted = await this.eraser.delete(author, id);
    this.eraser.beginLogs();
    return toTenant(deleted);
  }
}

function toTenant(tenant: TenantRecord): TenantDto {
  return {
    id: tenant.id,
    name: tenant.name,
    status: tenant.status,
    balance: tenant.balance,
    held: tenant.held,
    available: tenant.balance - tenant.held,
    spent: tenant.spent,
    spent_this_month: tenant.spentThisMonth,
    request_count: tenant.requestCount,
    key_count: tenant.keyCount,
    monthly_spend_limit: tenant.monthlySpendLimit,
    suspended_at: tenant.suspendedAt?.toISOString() ?? null,
    deleted_at: tenant.deletedAt?.toISOString() ?? null,
    erased_at: tenant.erasedAt?.toISOString() ?? null,
    created_at: tenant.createdAt.toISOString(),
  };
}
