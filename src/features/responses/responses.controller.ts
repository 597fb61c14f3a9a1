import { Controller, HttpCode, Post, Req, Res, Delete, Get, Param, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { CurrentCaller, type GatewayRequest } from '../../core/access/gateway-request.js';
import { deliver } from '../../core/answers/deliver.js';
import { Inference, Authenticated } from '../../core/access/authenticated.decorator.js';
import {
  ApiCreateResponse,
  ApiDeleteResponse,
  ApiListInputItems,
  ApiRetrieveResponse,
} from './responses.openapi.js';
import { ResponsesService } from './responses.service.js';
import type { Caller } from '../../core/access/caller.js';
import type { JsonObject } from '../../platform/http/json-body.js';
import { InputItemsQueryDto, RetrieveResponseQueryDto } from './responses.dto.js';
import type { InputItemList } from './list-input-items.js';
import { StoredResponsesService, type DeletedResponse } from './stored-responses.service.js';

/** Reads what was kept. Not counted against the rate limit, as nothing is asked of a model. */
@ApiTags('Inference')
@Controller(['v1/responses/:id', 'api/v1/responses/:id'])
@Authenticated('routing')
export class StoredResponsesController {
  constructor(private readonly responses: StoredResponsesService) {}

  @Get()
  @ApiRetrieveResponse()
  retrieve(
    @CurrentCaller() caller: Caller,
    @Param('id') id: string,
    @Query() _query: RetrieveResponseQueryDto,
  ): Promise<JsonObject> {
    return this.responses.retrieve(caller, id);
  }

  @Delete()
  @ApiDeleteResponse()
  delete(@CurrentCaller() caller: Caller, @Param('id') id: string): Promise<DeletedResponse> {
    return this.responses.delete(caller, id);
  }

  @Get('input_items')
  @ApiListInputItems()
  listInputItems(
    @CurrentCaller() caller: Caller,
    @Param('id') id: string,
    @Query() query: InputItemsQueryDto,
  ): Promise<InputItemList> {
    return this.responses.listInputItems(caller, id, query);
  }
}

@ApiTags('Inference')
@Controller(['v1/responses', 'api/v1/responses'])
@Inference({ writesResponse: true })
export class ResponsesController {
  constructor(private readonly responses: ResponsesService) {}

  @Post()
  @HttpCode(200)
  @ApiCreateResponse()
  create(@Req() request: GatewayRequest, @Res() response: Response): Promise<void> {
    return deliver(request, response, (call) => this.responses.create(call));
  }
}
