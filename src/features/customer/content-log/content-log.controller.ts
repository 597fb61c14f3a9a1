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
    summary: "Whether prompts and answers of the tenant's requests are kept",
  })
  @ApiOkResponse({ type: ContentLogDto })
  async get(@CurrentCaller() { tenantId }: Caller): Promise<ContentLogDto> {
    return this.toDto(await this.contentLog.choiceOf(tenantId));
  }

  @Patch()
  @ReadsJsonBody()
  @ApiOperation({
    operationId: 'updateContentLog',
    summary: "Keep prompts and answers of the tenant's requests, or not",
    description:
      'Holds for requests that begin a second later, on every instance. What is kept already stays until its time is over or it is deleted.',
  })
  @ApiOkResponse({ type: ContentLogDto })
  @ApiFields(UpdateContentLogDto, { 'Keep them': { enabled: true } })
  @ApiErrorResponse(403, 'The key is a routing key, or the gateway keeps nothing (`enabled`).')
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
    summary: "Delete what is kept of all the tenant's requests",
    description: 'Log rows and receipts stay, and so does the choice whether more is kept.',
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
