import { Body, Controller, Delete, Get, Patch } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { CurrentAuthor, type Author } from '../../../core/access/author.js';
import { type Caller } from '../../../core/access/caller.js';
import { ApiFields, OwnersOnly } from '../../../core/access/customer.decorator.js';
import { CurrentCaller } from '../../../core/access/gateway-request.js';
import { ContentLog } from '../../../core/content/content-log.service.js';
import type { ContentChoice } from '../../../core/content/content.repository.js';
import { ApiErrorResponse } from '../../../platform/errors/error-response.js';
import { ReadsJsonBody } from '../../../platform/http/read-json-body.js';
import { ContentLogDto, DeletedContentDto, UpdateContentLogDto } from './content-log.dto.js';

@ApiTags('Customer')
@OwnersOnly()
@Controller('v1/customer/content-log')
export class ContentLogController {
  constructor(private readonly contentLog: ContentLog) {}

  @Get()
  @ApiOperation({
    operationId: 'getContentLog',
    summary: "Get whether the tenant's prompts and answers are stored",
  })
  @ApiOkResponse({ type: ContentLogDto })
  async get(@CurrentCaller() { tenantId }: Caller): Promise<ContentLogDto> {
    return this.toDto(await this.contentLog.choiceOf(tenantId));
  }

  @Patch()
  @ReadsJsonBody()
  @ApiOperation({
    operationId: 'updateContentLog',
    summary: "Set whether the tenant's prompts and answers are stored",
    description:
      'Applies to requests that start a second later, on every instance. Stored content stays until it expires or is deleted.',
  })
  @ApiOkResponse({ type: ContentLogDto })
  @ApiFields(UpdateContentLogDto, { 'Store content': { enabled: true } })
  @ApiErrorResponse(403, 'The key is a routing key, or the gateway stores no content (`enabled`).')
  async update(
    @CurrentAuthor() author: Author,
    @CurrentCaller() { tenantId }: Caller,
    @Body() { enabled }: UpdateContentLogDto,
  ): Promise<ContentLogDto> {
    return this.toDto(await this.contentLog.choose(author, tenantId, enabled));
  }

  @Delete()
  @ApiOperation({
    operationId: 'deleteContents',
    summary: "Delete all stored content of the tenant's requests",
    description: 'Keeps log rows, receipts and the content log setting.',
  })
  @ApiOkResponse({ type: DeletedContentDto })
  async delete(
    @CurrentAuthor() author: Author,
    @CurrentCaller() { tenantId }: Caller,
  ): Promise<DeletedContentDto> {
    const requests = await this.contentLog.deleteAll(author, tenantId);
    return { object: 'content_log', deleted_requests: requests };
  }

  private toDto({ enabled }: ContentChoice): ContentLogDto {
    const { setting, retentionDays } = this.contentLog;
    const isOn = this.contentLog.isOn(enabled);
    return { object: 'content_log', setting, enabled, is_on: isOn, retention_days: retentionDays };
  }
}
