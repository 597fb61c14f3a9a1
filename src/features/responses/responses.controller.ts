import { Controller, HttpCode, Post, Req, Res, Delete, Get, Param, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { callerOf, CurrentCaller, type GatewayRequest } from '../../core/access/gateway-request.js';
import { deliver, deliverFree } from '../../core/answers/deliver.js';
import {
  ApiCancelResponse,
  ApiCompact,
  ApiCountInputTokens,
  ApiCreateResponse,
  ApiDeleteResponse,
  ApiListInputItems,
  ApiRetrieveResponse,
} from './responses.openapi.js';
import { ResponsesService } from './responses.service.js';
import { ConversationToolsService } from './conversation-tools.service.js';
import { Authenticated, Inference } from '../../core/access/authenticated.decorator.js';
import type { Caller } from '../../core/access/caller.js';
import type { JsonObject } from '../../platform/http/json-body.js';
import { RequestRoom } from '../../platform/http/request-room.js';
import { InputItemsQueryDto, RetrieveResponseQueryDto } from './responses.dto.js';
import type { InputItemList } from './list-input-items.js';
import { StoredResponsesService, type DeletedResponse } from './stored-responses.service.js';

/** Reads and manages stored responses. Exempt from the rate limit, since no model is called. */
@ApiTags('Inference')
@Controller(['v1/responses/:id', 'api/v1/responses/:id'])
export class StoredResponsesController {
  constructor(private readonly responses: StoredResponsesService) {}

  @Get()
  @Authenticated('routing', { isPolled: true })
  @ApiRetrieveResponse()
  retrieve(
    @Req() request: GatewayRequest,
    @Param('id') id: string,
    @Query() _query: RetrieveResponseQueryDto,
  ): Promise<JsonObject> {
    return this.responses.retrieve(callerOf(request), id, new RequestRoom(request));
  }

  @Post('cancel')
  @HttpCode(200)
  @Authenticated('routing')
  @ApiCancelResponse()
  cancel(@Req() request: GatewayRequest, @Param('id') id: string): Promise<JsonObject> {
    return this.responses.cancel(callerOf(request), id, new RequestRoom(request));
  }

  @Delete()
  @Authenticated('routing')
  @ApiDeleteResponse()
  delete(@CurrentCaller() caller: Caller, @Param('id') id: string): Promise<DeletedResponse> {
    return this.responses.delete(caller, id);
  }

  @Get('input_items')
  @Authenticated('routing')
  @ApiListInputItems()
  listInputItems(
    @Req() request: GatewayRequest,
    @Param('id') id: string,
    @Query() query: InputItemsQueryDto,
  ): Promise<InputItemList> {
    const room = new RequestRoom(request);
    return this.responses.listInputItems(callerOf(request), id, query, room);
  }
}

@ApiTags('Inference')
@Controller(['v1/responses', 'api/v1/responses'])
@Inference({ writesResponse: true })
export class ResponsesController {
  constructor(
    private readonly responses: ResponsesService,
    private readonly tools: ConversationToolsService,
  ) {}

  @Post()
  @HttpCode(200)
  @ApiCreateResponse()
  create(@Req() request: GatewayRequest, @Res() response: Response): Promise<void> {
    return deliver(request, response, (call) => this.responses.create(call));
  }

  @Post('input_tokens')
  @HttpCode(200)
  @ApiCountInputTokens()
  countTokens(@Req() request: GatewayRequest, @Res() response: Response): Promise<void> {
    return deliverFree(request, response, (call) => this.tools.countTokens(call));
  }

  @Post('compact')
  @HttpCode(200)
  @ApiCompact()
  compact(@Req() request: GatewayRequest, @Res() response: Response): Promise<void> {
    return deliver(request, response, (call) => this.tools.compact(call));
  }
}
