import { Body, Controller, Delete, Get, Param, Patch } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiParam, ApiProperty, ApiTags } from '@nestjs/swagger';
import { IsBoolean, ValidateIf } from 'class-validator';
import { CurrentAuthor, type Author } from '../../../core/access/author.js';
import { ApiFields } from '../../../core/access/customer.decorator.js';
import { Operator } from '../../../core/access/operator.decorator.js';
import { ContentLog } from '../../../core/content/content-log.service.js';
import { isUuid } from '../../../platform/database/stored-text.js';
import { ApiErrorResponse } from '../../../platform/errors/error-response.js';
import { NotFoundError } from '../../../platform/errors/gateway-errors.js';
import { ReadsJsonBody } from '../../../platform/http/read-json-body.js';

const NO_SUCH_TENANT = 'There is no tenant with this id.';
const CHOICE = "The tenant's choice; null: as `GATEWAY_CONTENT_LOG` says.";

class TenantContentLogDto {
  @ApiProperty({ enum: ['content_log'] })
  object!: 'content_log';

  @ApiProperty({ format: 'uuid' })
  tenant_id!: string;

  @ApiProperty({ enum: ['off', 'allowed', 'on'], description: '`GATEWAY_CONTENT_LOG`.' })
  setting!: 'off' | 'allowed' | 'on';

  @ApiProperty({ type: Boolean, nullable: true, description: CHOICE, example: true })
  enabled!: boolean | null;

  @ApiProperty({ description: 'What the two come to, for keys without a choice of their own.' })
  is_on!: boolean;
}

class UpdateTenantContentLogDto {
  @ApiProperty({ type: Boolean, nullable: true, description: CHOICE, example: true })
  @ValidateIf((_, value) => value !== null)
  @IsBoolean({ message: 'enabled is required: true, false or null' })
  enabled!: boolean | null;
}

class DeletedTenantContentDto {
  @ApiProperty({ enum: ['content_log'] })
  object!: 'content_log';

  @ApiProperty({ type: 'integer', description: 'Of so many requests.', example: 1042 })
  deleted_requests!: number;
}

/** Operators decide and delete; what was said they do not read. */
@ApiTags('Admin')
@Operator()
@Controller('v1/admin/content-log')
export class AdminContentLogController {
  constructor(private readonly contentLog: ContentLog) {}

  @Get(':id')
  @ApiOperation({
    operationId: 'getTenantContentLog',
    summary: "Whether prompts and answers of a tenant's requests are kept",
  })
  @ApiParam({ name: 'id', format: 'uuid', description: "The tenant's." })
  @ApiOkResponse({ type: TenantContentLogDto })
  @ApiErrorResponse(404, NO_SUCH_TENANT)
  async get(@Param('id') id: string): Promise<TenantContentLogDto> {
    return this.toDto(id, await this.contentLog.choiceOf(tenantOf(id)));
  }

  @Patch(':id')
  @ReadsJsonBody()
  @ApiOperation({
    operationId: 'updateTenantContentLog',
    summary: "Keep prompts and answers of a tenant's requests, or not",
    description: 'As the tenant itself may. Holds on every instance within a second.',
  })
  @ApiParam({ name: 'id', format: 'uuid', description: "The tenant's." })
  @ApiOkResponse({ type: TenantContentLogDto })
  @ApiFields(UpdateTenantContentLogDto, { 'Keep none': { enabled: false } })
  @ApiErrorResponse(403, 'The key may only read, or `GATEWAY_CONTENT_LOG` is `off` (`enabled`).')
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
    summary: "Delete what is kept of all a tenant's requests",
  })
  @ApiParam({ name: 'id', format: 'uuid', description: "The tenant's." })
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
