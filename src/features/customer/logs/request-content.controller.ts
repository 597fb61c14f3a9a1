import { Controller, Delete, Get, Header, Param } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiParam, ApiTags } from '@nestjs/swagger';
import { type Caller } from '../../../core/access/caller.js';
import {
  BooleanField,
  DateTimeField,
  EnumField,
  IntegerField,
  SchemaField,
  StringField,
  UuidField,
} from '../../../platform/http/field.decorators.js';
import { ObjectField, ObjectListField } from '../../../platform/http/nested-field.decorators.js';
import { CurrentAuthor, type Author } from '../../../core/access/author.js';
import { OwnersOnly } from '../../../core/access/customer.decorator.js';
import { CurrentCaller } from '../../../core/access/gateway-request.js';
import { ContentLog } from '../../../core/content/content-log.service.js';
import { isUuid } from '../../../platform/database/stored-text.js';
import { ApiErrorResponse } from '../../../platform/errors/error-response.js';
import { NotFoundError } from '../../../platform/errors/gateway-errors.js';

const NOTHING_KEPT = 'The tenant has no stored content for this request.';

class ContentMessageDto {
  @StringField({ example: 'user' })
  role!: string;

  @SchemaField(
    { type: 'array', items: { type: 'object', additionalProperties: true } },
    {
      description:
        'By `type`: `text`, `reasoning` and `refusal` have `content`; `tool_call` and `tool_call_response`; ' +
        '`uri` for linked media; `blob` with `bytes` and `sha256` for attached media, which are not stored.',
      example: [{ type: 'text', content: 'Say hello.' }],
    },
  )
  parts!: object[];

  @StringField({ optional: true, example: 'stop', description: 'Answers only.' })
  finish_reason?: string;
}

class ContentPromptDto {
  @SchemaField(
    { type: 'array', items: { type: 'object', additionalProperties: true } },
    {
      description: 'Parts outside the conversation, such as `system` or `instructions`.',
      example: [],
    },
  )
  instructions!: object[];

  @ObjectListField(ContentMessageDto)
  messages!: ContentMessageDto[];
}

class ContentMediaDto {
  @StringField({ example: 'audio/mpeg' })
  mime_type!: string;

  @IntegerField({ example: 48_000 })
  bytes!: number;

  @StringField({
    description: 'Hex.',
    example: 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
  })
  sha256!: string;
}

class ContentAnswerDto {
  @ObjectListField(ContentMessageDto, { description: 'Partial when interrupted.' })
  messages!: ContentMessageDto[];

  @ObjectListField(ContentMediaDto, { description: 'Audio and images, which are not stored.' })
  media!: ContentMediaDto[];
}

/** Prompt and answer of a request. */
export class RequestContentDto {
  @EnumField(['request_content'])
  object!: 'request_content';

  @UuidField()
  request_id!: string;

  @DateTimeField({ description: 'When the request ended.' })
  recorded_at!: string;

  @StringField({ example: 'chat' })
  endpoint!: string;

  @StringField({ example: 'openai/gpt-4o-mini' })
  model!: string;

  @ObjectField(ContentPromptDto)
  prompt!: ContentPromptDto;

  @ObjectField(ContentAnswerDto)
  answer!: ContentAnswerDto;

  @BooleanField({ description: 'Whether content was truncated.' })
  truncated!: boolean;
}

class DeletedRequestContentDto {
  @EnumField(['request_content'])
  object!: 'request_content';

  @UuidField()
  request_id!: string;

  @EnumField([true])
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
    summary: 'Get the prompt and answer of a request',
    description:
      'Requires the content log to have been enabled for the request. Available shortly after it ended. Each read is audited.',
  })
  @ApiParam({ name: 'request_id', format: 'uuid', description: '`x-request-id` of the response.' })
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
    summary: 'Delete the stored content of a request',
    description: 'Keeps its log row and receipt.',
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
