import { Body, Controller, Get, Patch } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { CurrentAuthor, type Author } from '../../../core/access/author.js';
import { ManagementOnly } from '../../../core/access/authenticated.decorator.js';
import { type Caller } from '../../../core/access/caller.js';
import { ApiChange, ApiFields, Customer } from '../../../core/access/customer.decorator.js';
import { CurrentCaller } from '../../../core/access/gateway-request.js';
import {
  TenantSettingsDto,
  UpdateTenantSettingsDto,
} from '../../../core/tenants/tenant-settings.dto.js';
import { TenantSettings } from '../../../core/tenants/tenant-settings.service.js';
import { Members } from '../../../core/access/roles.js';
import { ReadsJsonBody } from '../../../platform/http/read-json-body.js';

@ApiTags('Customer')
@Customer()
@Members('read')
@Controller('v1/customer/settings')
export class SettingsController {
  constructor(private readonly settings: TenantSettings) {}

  @Get()
  @ApiOperation({
    operationId: 'getSettings',
    summary: "Get the tenant's request settings",
  })
  @ApiOkResponse({ type: TenantSettingsDto })
  get(@CurrentCaller() { tenantId }: Caller): Promise<TenantSettingsDto> {
    return this.settings.of(tenantId);
  }

  @Patch()
  @ManagementOnly()
  @Members('develop')
  @ReadsJsonBody()
  @ApiOperation({
    operationId: 'updateSettings',
    summary: "Update the tenant's request settings",
    description:
      'Options in a request take precedence. Applies to requests that start a second later, on every instance.',
  })
  @ApiOkResponse({ type: TenantSettingsDto })
  @ApiFields(UpdateTenantSettingsDto, { 'Resume interrupted streams': { recovery: 'any' } })
  @ApiChange('only management keys can change settings of the tenant')
  update(
    @CurrentAuthor() author: Author,
    @CurrentCaller() { tenantId }: Caller,
    @Body() body: UpdateTenantSettingsDto,
  ): Promise<TenantSettingsDto> {
    return this.settings.update(author, tenantId, body);
  }
}
