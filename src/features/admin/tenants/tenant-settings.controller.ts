import { Body, Controller, Get, Param, Patch } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { CurrentAuthor, type Author } from '../../../core/access/author.js';
import { ApiFields } from '../../../core/access/customer.decorator.js';
import { Operator } from '../../../core/access/operator.decorator.js';
import {
  TenantSettingsDto,
  UpdateTenantSettingsDto,
} from '../../../core/tenants/tenant-settings.dto.js';
import { TenantSettings } from '../../../core/tenants/tenant-settings.service.js';
import { ReadsJsonBody } from '../../../platform/http/read-json-body.js';
import { ApiTenant } from './api-tenant.decorator.js';

/** Request settings of a tenant, for operators. */
@ApiTags('Admin')
@Operator()
@Controller('v1/admin/tenants/:tenant_id/settings')
export class TenantSettingsController {
  constructor(private readonly settings: TenantSettings) {}

  @Get()
  @ApiOperation({
    operationId: 'getTenantSettings',
    summary: "Get a tenant's request settings",
  })
  @ApiOkResponse({ type: TenantSettingsDto })
  @ApiTenant()
  get(@Param('tenant_id') id: string): Promise<TenantSettingsDto> {
    return this.settings.of(id);
  }

  @Patch()
  @ReadsJsonBody()
  @ApiOperation({
    operationId: 'updateTenantSettings',
    summary: "Update a tenant's request settings",
    description:
      'Tenants can do the same themselves. Applies to requests that start a second later, on every instance.',
  })
  @ApiOkResponse({ type: TenantSettingsDto })
  @ApiFields(UpdateTenantSettingsDto, { 'Disable stream recovery': { recovery: 'off' } })
  @ApiTenant()
  update(
    @CurrentAuthor() author: Author,
    @Param('tenant_id') id: string,
    @Body() body: UpdateTenantSettingsDto,
  ): Promise<TenantSettingsDto> {
    return this.settings.update(author, id, body);
  }
}
