import { Controller, Delete, Get, Param, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Authenticated } from '../../core/access/authenticated.decorator.js';
import { type Caller } from '../../core/access/caller.js';
import { CurrentCaller } from '../../core/access/gateway-request.js';
import type { JsonObject } from '../../platform/http/json-body.js';
import { InputItemsQueryDto } from './dto/input-items-query.dto.js';
import { RetrieveResponseQueryDto } from './dto/retrieve-response-query.dto.js';
import type { InputItemList } from './list-input-items.js';
import { ApiDeleteResponse, ApiListInputItems, ApiRetrieveResponse } from './responses.openapi.js';
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
