import { Controller, Delete, Get, Header, Param } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiParam, ApiProperty, ApiTags } from '@nestjs/swagger';
import { CurrentAuthor, type Author } from '../../../core/access/author.js';
import { type Caller } from '../../../core/access/caller.js';
import { OwnersOnly } from '../../../core/access/customer.decorator.js';
import { CurrentCaller } from '../../../core/access/gateway-request.js';
import { ContentLog } from '../../../core/content/content-log.service.js';
import { isUuid } from '../../../platform/database/stored-text.js';
import { ApiErrorResponse } from '../../../platform/errors/error-response.js';
import { NotFoundError } from '../../../platform/errors/gateway-errors.js';

const NOTHING_KEPT = 'Nothing is kept of such a request of the tenant.';

class ContentMessageDto {
  @ApiProperty({ example: 'user' })
  role!: string;

  @ApiProperty({
    type: 'array',
    items: { type: 'object', additionalProperties: true },
    description:
      'By `type`: `text`, `reasoning` and `refusal` with `content`; `tool_call` and `tool_call_response`; ' +
      '`uri` of media that were linked; `blob` with `bytes` and `sha256` of media that were sent along, which are not kept.',
    example: [{ type: 'text', content: 'Say hello.' }],
  })
  parts!: object[];

  @ApiProperty({ required: false, example: 'stop', description: 'Of answers.' })
  finish_reason?: string;
}

class ContentPromptDto {
  @ApiProperty({
    type: 'array',
    items: { type: 'object', additionalProperties: true },
    description:
      'Parts of what the dialect has beside the conversation, as `system` or `instructions`.',
    example: [],
  })
  instructions!: object[];

  @ApiProperty({ type: [ContentMessageDto] })
  messages!: ContentMessageDto[];
}

class ContentMediaDto {
  @ApiProperty({ example: 'audio/mpeg' })
  mime_type!: string;

  @ApiProperty({ type: 'integer', example: 48_000 })
  bytes!: number;

  @ApiProperty({
    description: 'Hex.',
    example: 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
  })
  sha256!: string;
}

class ContentAnswerDto {
  @ApiProperty({ type: [ContentMessageDto], description: 'As far as it went.' })
  messages!: ContentMessageDto[];

  @ApiProperty({ type: [ContentMediaDto], description: 'Audio and pictures, which are not kept.' })
  media!: ContentMediaDto[];
}

/** What was asked and answered in one request. */
export class RequestContentDto {
  @ApiProperty({ enum: ['request_content'] })
  object!: 'request_content';

  @ApiProperty({ format: 'uuid' })
  request_id!: string;

  @ApiProperty({ format: 'date-time', description: 'When the request had ended.' })
  recorded_at!: string;

  @ApiProperty({ example: 'chat' })
  endpoint!: string;

  @ApiProperty({ example: 'openai/gpt-4o-mini' })
  model!: string;

  @ApiProperty({ type: ContentPromptDto })
  prompt!: ContentPromptDto;

  @ApiProperty({ type: ContentAnswerDto })
  answer!: ContentAnswerDto;

  @ApiProperty({ description: 'Whether something was left out because it was too long.' })
  truncated!: boolean;
}

class DeletedRequestContentDto {
  @ApiProperty({ enum: ['request_content'] })
  object!: 'request_content';

  @ApiProperty({ format: 'uuid' })
  request_id!: string;

  @ApiProperty({ enum: [true] })
  deleted!: true;
}

@ApiTags('Customer')
@OwnersOnly()
@Controller('v1/customer/logs')
export class RequestContentController {
  constructor(private readonly contentLog: ContentLog) {}

  @Get(':request_id/content')
  @Header('cache-control', 'no-store')
  @ApiOperation({
    operationId: 'getRequestContent',
    summary: 'What was asked and answered in a request',
    description:
      'Only of requests that were made while the content log was on, a moment after they ended. Each reading is an entry of the audit log.',
  })
  @ApiParam({ name: 'request_id', format: 'uuid', description: "The answer's `x-request-id`." })
  @ApiOkResponse({ type: RequestContentDto })
  @ApiErrorResponse(404, NOTHING_KEPT)
  async get(
    @CurrentAuthor() author: Author,
    @CurrentCaller() { tenantId }: Caller,
    @Param('request_id') requestId: string,
  ): Promise<RequestContentDto> {
    const content = await this.contentLog.read(author, tenantId, idOf(requestId));
    const { prompt, answer, endpoint, model, truncated, recordedAt } = content;
    return {
      object: 'request_content',
      request_id: content.requestId,
      recorded_at: recordedAt.toISOString(),
      endpoint,
      model,
      prompt: { instructions: [...prompt.instructions], messages: [...prompt.messages] },
      answer: { messages: [...answer.messages], media: [...answer.media] },
      truncated,
    };
  }

  @Delete(':request_id/content')
  @ApiOperation({
    operationId: 'deleteRequestContent',
    summary: 'Delete what is kept of a request',
    description: 'Its log row and receipt stay.',
  })
  @ApiParam({ name: 'request_id', format: 'uuid' })
  @ApiOkResponse({ type: DeletedRequestContentDto })
  @ApiErrorResponse(404, NOTHING_KEPT)
  async delete(
    @CurrentAuthor() author: Author,
    @CurrentCaller() { tenantId }: Caller,
    @Param('request_id') requestId: string,
  ): Promise<DeletedRequestContentDto> {
    await this.contentLog.delete(author, tenantId, idOf(requestId));
    return { object: 'request_content', request_id: requestId, deleted: true };
  }
}

function idOf(requestId: string): string {
  if (isUuid(requestId)) return requestId.toLowerCase();
  throw new NotFoundError('request_id', 'There is no request with this id.');
}
