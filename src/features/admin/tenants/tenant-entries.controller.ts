import { Body, Controller, Get, Param, Post, Query, Req } from '@nestjs/common';
import {
  ApiCreatedResponse,
  ApiHeader,
  ApiOkResponse,
  ApiOperation,
  ApiTags,
} from '@nestjs/swagger';
import { CurrentAuthor, type Author } from '../../../core/access/author.js';
import { ApiFields, ApiFilters } from '../../../core/access/customer.decorator.js';
import type { GatewayRequest } from '../../../core/access/gateway-request.js';
import { Operator } from '../../../core/access/operator.decorator.js';
import { ApiErrorResponse } from '../../../platform/errors/error-response.js';
import { readIdempotencyKey } from '../../../platform/http/idempotency-key.js';
import { ReadsJsonBody } from '../../../platform/http/read-json-body.js';
import { ApiTenant } from './api-tenant.decorator.js';
import {
  CreateCorrectionDto,
  CreateGrantDto,
  LedgerEntryDto,
  LedgerEntryListDto,
  LedgerEntryQueryDto,
} from './tenant-entries.dto.js';
import { TenantEntries } from './tenant-entries.service.js';

const IDEMPOTENCY_KEY = {
  name: 'Idempotency-Key',
  required: false,
  description:
    'The same key and body create one entry and return the same response. ' +
    'A rejected request does not use up the key.',
  schema: { type: 'string', minLength: 1, maxLength: 255 },
} as const;

@ApiTags('Admin')
@Operator()
@Controller('v1/admin/tenants/:tenant_id')
export class TenantEntriesController {
  constructor(private readonly entries: TenantEntries) {}

  @Get('entries')
  @ApiOperation({
    operationId: 'listTenantEntries',
    summary: "List a tenant's ledger entries, newest first",
  })
  @ApiOkResponse({ type: LedgerEntryListDto })
  @ApiFilters()
  @ApiTenant()
  list(
    @Param('tenant_id') tenantId: string,
    @Query() query: LedgerEntryQueryDto,
  ): Promise<LedgerEntryListDto> {
    return this.entries.list(tenantId, query);
  }

  @Post('grants')
  @ReadsJsonBody()
  @ApiOperation({ operationId: 'createGrant', summary: 'Grant credits to a tenant' })
  @ApiHeader(IDEMPOTENCY_KEY)
  @ApiCreatedResponse({ type: LedgerEntryDto })
  @ApiFields(CreateGrantDto, { '5 USD': { credits: 5_000_000, memo: 'invoice 2026-118' } })
  @ApiTenant()
  @ApiErrorResponse(409, 'The `Idempotency-Key` was used for another entry.')
  grant(
    @CurrentAuthor() author: Author,
    @Param('tenant_id') tenantId: string,
    @Body() { credits, memo = null }: CreateGrantDto,
    @Req() { headers }: GatewayRequest,
  ): Promise<LedgerEntryDto> {
    const key = readIdempotencyKey(headers);
    return this.entries.add(author, tenantId, { kind: 'grant', credits, memo }, key);
  }

  @Post('corrections')
  @ReadsJsonBody()
  @ApiOperation({
    operationId: 'createCorrection',
    summary: "Correct a tenant's balance up or down",
    description:
      'Can remove at most the available credits: the balance less holds, so that requests in progress are not ' +
      'affected. Counts neither as spend nor towards limits.',
  })
  @ApiHeader(IDEMPOTENCY_KEY)
  @ApiCreatedResponse({ type: LedgerEntryDto })
  @ApiFields(CreateCorrectionDto, {
    'Remove 0.0015 USD': { credits: -1_500, memo: 'granted twice' },
  })
  @ApiTenant()
  @ApiErrorResponse(
    409,
    'It removes more than is available, or the `Idempotency-Key` was used for another entry.',
  )
  correct(
    @CurrentAuthor() author: Author,
    @Param('tenant_id') tenantId: string,
    @Body() { credits, memo = null }: CreateCorrectionDto,
    @Req() { headers }: GatewayRequest,
  ): Promise<LedgerEntryDto> {
    const key = readIdempotencyKey(headers);
    return this.entries.add(author, tenantId, { kind: 'correction', credits, memo }, key);
  }
}
