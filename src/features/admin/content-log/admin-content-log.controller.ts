import { Body, Controller, Delete, Get, Param, Patch } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiParam, ApiTags } from '@nestjs/swagger';
import {
  BooleanField,
  EnumField,
  IntegerField,
  UuidField,
} from '../../../platform/http/field.decorators.js';
import { CurrentAuthor, type Author } from '../../../core/access/author.js';
import { ApiFields } from '../../../core/access/customer.decorator.js';
import { Operator } from '../../../core/access/operator.decorator.js';
import { ContentLog } from '../../../core/content/content-log.service.js';
import { isUuid } from '../../../platform/database/stored-text.js';
import { ApiErrorResponse } from '../../../platform/errors/error-response.js';
import { NotFoundError } from '../../../platform/errors/gateway-errors.js';
import { ReadsJsonBody } from '../../../platform/http/read-json-body.js';

const NO_SUCH_TENANT = 'There is no tenant with this id.';
const CHOICE = "The tenant's choice; null: the default of `GATEWAY_CONTENT_LOG`.";

class TenantContentLogDto {
  @EnumField(['content_log'])
  object!: 'content_log';

  @UuidField()
  tenant_id!: string;

  @EnumField(['off', 'allowed', 'on'], { description: '`GATEWAY_CONTENT_LOG`.' })
  setting!: 'off' | 'allowed' | 'on';

  @BooleanField({ nullable: true, description: CHOICE, example: true })
  enabled!: boolean | null;

  @BooleanField({ description: 'The effective setting for keys without their own choice.' })
  is_on!: boolean;
}

class UpdateTenantContentLogDto {
  @BooleanField({ nullable: true, description: CHOICE, example: true })
  enabled!: boolean | null;
}

class DeletedTenantContentDto {
  @EnumField(['content_log'])
  object!: 'content_log';

  @IntegerField({ description: 'Number of requests.', example: 1042 })
  deleted_requests!: number;
}

/** Operators can configure and delete stored content, but not read it. */
@ApiTags('Admin')
@Operator()
@Controller('v1/admin/content-log')
export class AdminContentLogController {
  constructor(private readonly contentLog: ContentLog) {}

  @Get(':id')
  @ApiOperation({
    operationId: 'getTenantContentLog',
    summary: "Get whether a tenant's prompts and answers are stored",
  })
  @ApiParam({ name: 'id', format: 'uuid', description: 'Tenant id.' })
  @ApiOkResponse({ type: TenantContentLogDto })
  @ApiErrorResponse(404, NO_SUCH_TENANT)
  async get(@Param('id') id: string): Promise<TenantContentLogDto> {
    return this.toDto(id, await this.contentLog.choiceOf(tenantOf(id)));
  }

  @Patch(':id')
  @ReadsJsonBody()
  @ApiOperation({
    operationId: 'updateTenantContentLog',
    summary: "Set whether a tenant's prompts and answers are stored",
    description: 'Tenants can do the same themselves. Applies on every instance within a second.',
  })
  @ApiParam({ name: 'id', format: 'uuid', description: 'Tenant id.' })
  @ApiOkResponse({ type: TenantContentLogDto })
  @ApiFields(UpdateTenantContentLogDto, { 'Store nothing': { enabled: false } })
  @ApiErrorResponse(403, 'The key is read-only, or `GATEWAY_CONTENT_LOG` is `off` (`enabled`).')
  @ApiErrorResponse(404, NO_SUCH_TENANT)
  async update(
    @CurrentAuthor() author: Author,
    @Param('id') id: string,
    @Body() { enabled }: UpdateTenantContentLogDto,
  ): Promise<TenantContentLogDto> {
    return this.toDto(id, await this.contentLog.choose(author, tenantOf(id), enabled));
  }

  @Delete(':id')
  @ApiOperation({
    operationId: 'deleteTenantContents',
    summary: "Delete all stored content of a tenant's requests",
  })
  @ApiParam({ name: 'id', format: 'uuid', description: 'Tenant id.' })
  @ApiOkResponse({ type: DeletedTenantContentDto })
  @ApiErrorResponse(404, NO_SUCH_TENANT)
  async delete(
    @CurrentAuthor() author: Author,
    @Param('id') id: string,
  ): Promise<DeletedTenantContentDto> {
    const requests = await this.contentLog.deleteAll(author, tenantOf(id));
    return { object: 'content_log', deleted_requests: requests };
  }

  private toDto(id: string, { enabled }: { enabled: boolean | null }): TenantContentLogDto {
    const { setting } = this.contentLog;
    const isOn = this.contentLog.isOn(enabled);
    return { object: 'content_log', tenant_id: id, setting, enabled, is_on: isOn };
  }
}

function tenantOf(id: string): string {
  if (isUuid(id)) return id;
  throw new NotFoundError('id', NO_SUCH_TENANT);
}
