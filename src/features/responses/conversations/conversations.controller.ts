import { Controller, Delete, Get, HttpCode, Param, Post, Query, Req, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { Authenticated } from '../../../core/access/authenticated.decorator.js';
import type { Caller } from '../../../core/access/caller.js';
import {
  callerOf,
  CurrentCaller,
  type GatewayRequest,
} from '../../../core/access/gateway-request.js';
import type { JsonObject } from '../../../platform/http/json-body.js';
import { readJsonBody } from '../../../platform/http/read-json-body.js';
import { RequestRoom } from '../../../platform/http/request-room.js';
import { sendTextStream } from '../../../platform/http/send-body.js';
import type { InputItemList } from '../list-input-items.js';
import { IncludeQueryDto, InputItemsQueryDto } from '../responses.dto.js';
import {
  ApiConversation,
  ApiConversationId,
  ApiConversationItem,
  ApiConversationItems,
  ApiItemId,
} from './conversations.openapi.js';
import {
  createConversationSchema,
  createItemsSchema,
  StoredConversationsService,
  updateConversationSchema,
} from './stored-conversations.service.js';

const JSON_HEADERS = { 'content-type': 'application/json; charset=utf-8' };

/** Conversations with their own id. Calls no model. */
@ApiTags('Inference')
@Controller(['v1/conversations', 'api/v1/conversations'])
@Authenticated('routing')
export class ConversationsController {
  constructor(private readonly conversations: StoredConversationsService) {}

  @Post()
  @HttpCode(200)
  @ApiConversation(
    'createConversation',
    'Create a conversation',
    'Optionally with initial items.',
    createConversationSchema,
  )
  async create(@Req() request: GatewayRequest): Promise<JsonObject> {
    return this.conversations.create(callerOf(request), await readJsonBody(request));
  }

  @Get(':id')
  @ApiConversation('getConversation', 'Get a conversation', 'Returns it without its items.')
  @ApiConversationId()
  retrieve(@CurrentCaller() caller: Caller, @Param('id') id: string): Promise<JsonObject> {
    return this.conversations.retrieve(caller, id);
  }

  @Post(':id')
  @HttpCode(200)
  @ApiConversation(
    'updateConversation',
    'Update a conversation',
    'Replaces its metadata.',
    updateConversationSchema,
  )
  @ApiConversationId()
  async update(@Req() request: GatewayRequest, @Param('id') id: string): Promise<JsonObject> {
    return this.conversations.update(callerOf(request), id, await readJsonBody(request));
  }

  @Delete(':id')
  @ApiConversation(
    'deleteConversation',
    'Delete a conversation',
    'Deletes its items too. Responses created in it stay.',
  )
  @ApiConversationId()
  delete(@CurrentCaller() caller: Caller, @Param('id') id: string): Promise<JsonObject> {
    return this.conversations.delete(caller, id);
  }

  @Get(':id/items')
  @ApiConversationItems(
    'listConversationItems',
    "List a conversation's items",
    'Newest first, unless `order` is `asc`.',
  )
  @ApiConversationId()
  listItems(
    @Req() request: GatewayRequest,
    @Res() response: Response,
    @Param('id') id: string,
    @Query() query: InputItemsQueryDto,
  ): Promise<void> {
    const room = new RequestRoom(request);
    const pieces = this.conversations.listItems(callerOf(request), id, query, room);
    return sendTextStream(response, JSON_HEADERS, pieces);
  }

  @Post(':id/items')
  @HttpCode(200)
  @ApiConversationItems(
    'addConversationItems',
    'Add items to a conversation',
    'Appends them under new ids.',
    createItemsSchema,
  )
  @ApiConversationId()
  async addItems(
    @Req() request: GatewayRequest,
    @Param('id') id: string,
    @Query() _query: IncludeQueryDto,
  ): Promise<InputItemList> {
    return this.conversations.addItems(callerOf(request), id, await readJsonBody(request));
  }

  @Get(':id/items/:item_id')
  @ApiConversationItem()
  @ApiConversationId()
  @ApiItemId()
  retrieveItem(
    @Req() request: GatewayRequest,
    @Res() response: Response,
    @Param('id') id: string,
    @Param('item_id') itemId: string,
    @Query() _query: IncludeQueryDto,
  ): Promise<void> {
    const room = new RequestRoom(request);
    const pieces = this.conversations.retrieveItem(callerOf(request), id, itemId, room);
    return sendTextStream(response, JSON_HEADERS, pieces);
  }

  @Delete(':id/items/:item_id')
  @ApiConversation(
    'deleteConversationItem',
    'Delete an item from a conversation',
    'Returns the conversation.',
  )
  @ApiConversationId()
  @ApiItemId()
  deleteItem(
    @CurrentCaller() caller: Caller,
    @Param('id') id: string,
    @Param('item_id') itemId: string,
  ): Promise<JsonObject> {
    return this.conversations.deleteItem(caller, id, itemId);
  }
}
