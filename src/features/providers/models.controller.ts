import { Controller, Get, Param } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiParam, ApiTags } from '@nestjs/swagger';
import { type Caller } from '../../core/access/caller.js';
import { CurrentCaller } from '../../core/access/gateway-request.js';
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
import { ModelsService } from './models.service.js';

/** The catalogue of `/v1`, with more fields. */
@ApiTags('Catalogue')
@Controller('api/v1')
@Authenticated('any')
export class CompatibleModelsController {
  constructor(private readonly models: ModelsService) {}

  @Get('models')
  @ApiOperation({
    operationId: 'listCompatibleModels',
    summary: 'List the models that a configured provider serves',
  })
  @ApiOkResponse({ type: CompatibleModelListDto })
  async list(@CurrentCaller() caller: Caller): Promise<CompatibleModelListDto> {
    return toCompatibleList(await this.models.list(caller));
  }

  @Get('embeddings/models')
  @ApiOperation({
    operationId: 'listCompatibleEmbeddingModels',
    summary: 'List the embedding models that a configured provider serves',
  })
  @ApiOkResponse({ type: CompatibleModelListDto })
  async listEmbeddingModels(@CurrentCaller() caller: Caller): Promise<CompatibleModelListDto> {
    return toCompatibleList(await this.models.listEmbeddingModels(caller));
  }

  @Get('models/*id')
  @ApiOperation({ operationId: 'getCompatibleModel', summary: 'Get one model' })
  @ApiParam({
    name: 'id',
    type: String,
    description: 'Alias `<provider>/<model>`, its slashes plain or encoded.',
    example: 'sandbox/echo',
  })
  @ApiOkResponse({ type: CompatibleModelDto })
  @ApiErrorResponse(404, 'There is no such model, or no configured provider serves it.')
  async get(
    @CurrentCaller() caller: Caller,
    @Param('id') id: string | string[],
  ): Promise<CompatibleModelDto> {
    return toCompatibleModel(await this.models.get(caller, Array.isArray(id) ? id.join('/') : id));
  }
}

@ApiTags('Catalogue')
@Controller('v1')
@Authenticated('any')
export class ModelsController {
  constructor(private readonly models: ModelsService) {}

  @Get('models')
  @ApiOperation({
    operationId: 'listModels',
    summary: 'List the models that a configured provider serves',
  })
  @ApiOkResponse({ type: ModelListDto })
  async list(@CurrentCaller() caller: Caller): Promise<ModelListDto> {
    return { data: await this.models.list(caller) };
  }

  @Get('embeddings/models')
  @ApiOperation({
    operationId: 'listEmbeddingModels',
    summary: 'List the embedding models that a configured provider serves',
  })
  @ApiOkResponse({ type: ModelListDto })
  async listEmbeddingModels(@CurrentCaller() caller: Caller): Promise<ModelListDto> {
    return { data: await this.models.listEmbeddingModels(caller) };
  }

  @Get('models/*id')
  @ApiOperation({ operationId: 'getModel', summary: 'Get one model' })
  @ApiParam({
    name: 'id',
    type: String,
    description: 'Alias `<provider>/<model>`, its slashes plain or encoded.',
    example: 'sandbox/echo',
  })
  @ApiOkResponse({ type: ModelDto })
  @ApiErrorResponse(404, 'There is no such model, or no configured provider serves it.')
  get(@CurrentCaller() caller: Caller, @Param('id') id: string | string[]): Promise<ModelDto> {
    return this.models.get(caller, Array.isArray(id) ? id.join('/') : id);
  }
}
