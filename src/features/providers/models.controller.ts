import { Controller, Get, Param, Req } from '@nestjs/common';
import {
  ApiExcludeController,
  ApiOkResponse,
  ApiOperation,
  ApiParam,
  ApiQuery,
  ApiTags,
} from '@nestjs/swagger';
import { type Caller } from '../../core/access/caller.js';
import { CurrentCaller, type GatewayRequest } from '../../core/access/gateway-request.js';
import { Authenticated } from '../../core/access/authenticated.decorator.js';
import { ApiErrorResponse } from '../../platform/errors/error-response.js';
import {
  ModelDto,
  ModelListDto,
  CompatibleModelDto,
  CompatibleModelListDto,
  toCompatibleList,
  toCompatibleModel,
} from './providers.dto.js';
import { listMessagesModels, toMessagesModel } from './messages-models.js';
import { MESSAGES_MODELS_PATHS, MESSAGES_VERSION_HEADER } from './messages-models.vendor.js';
import { ModelsService } from './models.service.js';
import { Members } from '../../core/access/roles.js';

const LIST_MODELS = {
  summary: 'List the models that a configured provider serves',
  description: `With the header \`${MESSAGES_VERSION_HEADER}\`, returns chat models in the messages dialect's format, newest first, in pages by \`limit\`, \`after_id\` and \`before_id\`.`,
};

/** Describes the parameter that `aliasOf` reads. */
export const ALIAS_IN_PATH = {
  name: 'id',
  type: String,
  description: 'Alias `<provider>/<model>`; its slashes may be URL-encoded.',
  example: 'sandbox/echo',
};

/** The catalogue of `/v1`, with more fields. */
@ApiTags('Catalogue')
@Controller('api/v1')
@Authenticated('any', { acceptsXApiKey: true })
@Members('any')
export class CompatibleModelsController {
  constructor(private readonly models: ModelsService) {}

  @Get('models')
  @ApiOperation({ operationId: 'listCompatibleModels', ...LIST_MODELS })
  @ApiOkResponse({ type: CompatibleModelListDto })
  async list(@CurrentCaller() caller: Caller, @Req() request: GatewayRequest): Promise<object> {
    if (isOfMessages(request)) return listForMessages(this.models, caller, request);
    return toCompatibleList(await this.models.list(caller));
  }

  @Get('embeddings/models')
  @ApiOperation({
    operationId: 'listCompatibleEmbeddingModels',
    summary: 'List the embedding models that a configured provider serves',
  })
  @ApiOkResponse({ type: CompatibleModelListDto })
  async listEmbeddingModels(@CurrentCaller() caller: Caller): Promise<CompatibleModelListDto> {
    return toCompatibleList(await this.models.list(caller, 'embedding'));
  }

  @Get('models/*id')
  @ApiOperation({ operationId: 'getCompatibleModel', summary: 'Get one model' })
  @ApiParam(ALIAS_IN_PATH)
  @ApiOkResponse({ type: CompatibleModelDto })
  @ApiErrorResponse(404, 'There is no such model, or no configured provider serves it.')
  async get(
    @CurrentCaller() caller: Caller,
    @Param('id') id: string | string[],
    @Req() request: GatewayRequest,
  ): Promise<object> {
    const model = await this.models.get(caller, aliasOf(id));
    return isOfMessages(request) ? toMessagesModel(model) : toCompatibleModel(model);
  }
}

@ApiTags('Catalogue')
@Controller('v1')
@Authenticated('any', { acceptsXApiKey: true })
@Members('any')
export class ModelsController {
  constructor(private readonly models: ModelsService) {}

  @Get('models')
  @ApiOperation({ operationId: 'listModels', ...LIST_MODELS })
  @ApiQuery({
    name: 'include_routes',
    required: false,
    description: '`true` adds `kind`, and `routes` with the state of each provider.',
    example: 'true',
  })
  @ApiOkResponse({ type: ModelListDto })
  async list(@CurrentCaller() caller: Caller, @Req() request: GatewayRequest): Promise<object> {
    if (isOfMessages(request)) return listForMessages(this.models, caller, request);
    if (request.query.include_routes === 'true') {
      return {
        object: 'list',
        data: await this.models.listWithRoutes(caller),
      } satisfies ModelListDto;
    }
    return { object: 'list', data: await this.models.list(caller) } satisfies ModelListDto;
  }

  @Get('embeddings/models')
  @ApiOperation({
    operationId: 'listEmbeddingModels',
    summary: 'List the embedding models that a configured provider serves',
  })
  @ApiOkResponse({ type: ModelListDto })
  async listEmbeddingModels(@CurrentCaller() caller: Caller): Promise<ModelListDto> {
    return { object: 'list', data: await this.models.list(caller, 'embedding') };
  }

  @Get('models/*id')
  @ApiOperation({ operationId: 'getModel', summary: 'Get one model' })
  @ApiParam(ALIAS_IN_PATH)
  @ApiOkResponse({ type: ModelDto })
  @ApiErrorResponse(404, 'There is no such model, or no configured provider serves it.')
  async get(
    @CurrentCaller() caller: Caller,
    @Param('id') id: string | string[],
    @Req() request: GatewayRequest,
  ): Promise<object> {
    const model = await this.models.get(caller, aliasOf(id));
    return isOfMessages(request) ? toMessagesModel(model) : model;
  }
}

/** Serves the same list at the messages dialect's paths, which the API description leaves out. */
@ApiExcludeController()
@Controller(MESSAGES_MODELS_PATHS)
@Authenticated('any', { acceptsXApiKey: true })
@Members('any')
export class MessagesModelsController {
  constructor(private readonly models: ModelsService) {}

  @Get()
  list(@CurrentCaller() caller: Caller, @Req() request: GatewayRequest): Promise<object> {
    return listForMessages(this.models, caller, request);
  }

  @Get('*id')
  async get(@CurrentCaller() caller: Caller, @Param('id') id: string | string[]): Promise<object> {
    return toMessagesModel(await this.models.get(caller, aliasOf(id)));
  }
}

/** Lists chat models in the messages dialect's format. */
async function listForMessages(
  models: ModelsService,
  caller: Caller,
  { query }: GatewayRequest,
): Promise<object> {
  return listMessagesModels(await models.list(caller, 'chat'), query);
}

function isOfMessages({ headers }: GatewayRequest): boolean {
  return headers[MESSAGES_VERSION_HEADER] !== undefined;
}

/** Joins the path segments of an alias. */
export function aliasOf(id: string | string[]): string {
  return Array.isArray(id) ? id.join('/') : id;
}
