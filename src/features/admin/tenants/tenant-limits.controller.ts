import { Body, Controller, Get, Param, Put } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { CurrentAuthor, type Author } from '../../../core/access/author.js';
import { ApiFields } from '../../../core/access/customer.decorator.js';
import { Operator } from '../../../core/access/operator.decorator.js';
import { BothLimitsDto, LimitsDto } from '../../../core/limits/limits.dto.js';
import { LimitsService, type BothLimits } from '../../../core/limits/limits.service.js';
import { toLimits } from '../../../core/limits/to-limits.js';
import { isUuid } from '../../../platform/database/stored-text.js';
import { NotFoundError } from '../../../platform/errors/gateway-errors.js';
import { ReadsJsonBody } from '../../../platform/http/read-json-body.js';
import { IN_PLACE, LIMITS_EXAMPLES } from '../limits/limits.controller.js';
import { ApiTenant } from './api-tenant.decorator.js';
import { NO_SUCH_TENANT } from './tenants.service.js';

/** Operator limits of tenants. */
@ApiTags('Admin')
@Operator()
@Controller('v1/admin/tenants/:tenant_id/limits')
export class TenantLimitsController {
  constructor(private readonly limits: LimitsService) {}

  @Get()
  @ApiOperation({ operationId: 'getTenantLimits', summary: 'Get the limits of a tenant' })
  @ApiOkResponse({ type: BothLimitsDto })
  @ApiTenant()
  async get(@Param('tenant_id') id: string): Promise<BothLimitsDto> {
    const [described] = await this.limits.describe(id, 'tenant', [await this.find(id)]);
    return described!;
  }

  @Put()
  @ReadsJsonBody()
  @ApiOperation({
    operationId: 'setTenantLimits',
    summary: 'Set the limits of a tenant',
    description: IN_PLACE,
  })
  @ApiOkResponse({ type: BothLimitsDto })
  @ApiFields(LimitsDto, LIMITS_EXAMPLES, 'budgets.0.credits')
  @ApiTenant()
  async set(
    @CurrentAuthor() author: Author,
    @Param('tenant_id') id: string,
    @Body() body: LimitsDto,
  ): Promise<BothLimitsDto> {
    await this.find(id);
    const limits = toLimits(body);
    await this.limits.set(author, 'tenant', { tenantId: id, id }, 'operator', limits);
    return this.get(id);
  }

  private async find(id: string): Promise<BothLimits> {
    const tenant = isUuid(id) ? await this.limits.ofTenant(id) : undefined;
    if (!tenant) throw new NotFoundError('tenant_id', NO_SUCH_TENANT);
    return tenant;
  }
}
