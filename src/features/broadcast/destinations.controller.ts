import { Body, Controller, Delete, Get, HttpCode, Param, Post, Put } from '@nestjs/common';
import {
  ApiCreatedResponse,
  ApiOkResponse,
  ApiOperation,
  ApiParam,
  ApiTags,
} from '@nestjs/swagger';
import { type Caller } from '../../core/access/caller.js';
import { CurrentAuthor, type Author } from '../../core/access/author.js';
import { CurrentCaller } from '../../core/access/gateway-request.js';
import { ApiFields, Customer } from '../../core/access/customer.decorator.js';
import { ApiErrorResponse } from '../../platform/errors/error-response.js';
import { ReadsJsonBody } from '../../platform/http/read-json-body.js';
import { DestinationsService } from './destinations.service.js';
import {
  UpdateDestinationDto,
  CreateDestinationDto,
  DeletedDestinationDto,
  DestinationDto,
  DestinationListDto,
  DestinationTestDto,
} from './destinations.dto.js';
import { Members } from '../../core/people/roles.js';

const ID = { name: 'id', format: 'uuid' };
const UNKNOWN = 'The tenant has no destination with this id.';
const CREATE_EXAMPLE = { url: 'https://collector.example.com/v1/traces', sampling_rate: 0.1 };
const RESTRICTED =
  'Changes need a management key on this gateway, or for what a management key made.';

@ApiTags('Customer')
@Customer()
@Members('read')
@Controller('v1/customer/broadcast/destinations')
export class DestinationsController {
  constructor(private readonly destinations: DestinationsService) {}

  @Get()
  @ApiOperation({ operationId: 'listDestinations', summary: 'List where traces are sent' })
  @ApiOkResponse({ type: DestinationListDto })
  async list(@CurrentCaller() caller: Caller): Promise<DestinationListDto> {
    return { data: await this.destinations.list(caller) };
  }

  @Post()
  @Members('develop')
  @ReadsJsonBody()
  @ApiOperation({
    operationId: 'createDestination',
    summary: 'Have traces sent to an HTTP endpoint',
    description:
      'It gets the traces of requests with the header `X-Gateway-Broadcast: true`, as OTLP in JSON.',
  })
  @ApiCreatedResponse({ type: DestinationDto })
  @ApiFields(CreateDestinationDto, { 'Every tenth trace': CREATE_EXAMPLE }, 'url')
  @ApiErrorResponse(403, RESTRICTED)
  create(
    @CurrentCaller() caller: Caller,
    @CurrentAuthor() author: Author,
    @Body() body: CreateDestinationDto,
  ): Promise<DestinationDto> {
    return this.destinations.create(caller, author, body);
  }

  @Get(':id')
  @ApiOperation({
    operationId: 'getDestination',
    summary: 'Read a destination, with how its deliveries go',
  })
  @ApiParam(ID)
  @ApiOkResponse({ type: DestinationDto })
  @ApiErrorResponse(404, UNKNOWN)
  get(@CurrentCaller() caller: Caller, @Param('id') id: string): Promise<DestinationDto> {
    return this.destinations.get(caller, id);
  }

  @Put(':id')
  @Members('develop')
  @ReadsJsonBody()
  @ApiOperation({
    operationId: 'updateDestination',
    summary: 'Change a destination',
    description:
      'What is left out stays as it is; `headers` are replaced as a whole, but a value that comes back masked stays as it is too. With another `url` or `include_content` the stored headers are lost unless they are given anew; what waits is dropped when the `url` leads to another server.',
  })
  @ApiParam(ID)
  @ApiOkResponse({ type: DestinationDto })
  @ApiFields(UpdateDestinationDto, { 'Off for now': { enabled: false } }, 'url')
  @ApiErrorResponse(403, RESTRICTED)
  @ApiErrorResponse(404, UNKNOWN)
  @ApiErrorResponse(409, 'Another change of the destination came first.')
  update(
    @CurrentCaller() caller: Caller,
    @CurrentAuthor() author: Author,
    @Param('id') id: string,
    @Body() body: UpdateDestinationDto,
  ): Promise<DestinationDto> {
    return this.destinations.update(caller, author, id, body);
  }

  @Delete(':id')
  @Members('develop')
  @ApiOperation({
    operationId: 'deleteDestination',
    summary: 'Delete a destination, and what waits for it',
  })
  @ApiParam(ID)
  @ApiOkResponse({ type: DeletedDestinationDto })
  @ApiErrorResponse(403, RESTRICTED)
  @ApiErrorResponse(404, UNKNOWN)
  delete(
    @CurrentCaller() caller: Caller,
    @CurrentAuthor() author: Author,
    @Param('id') id: string,
  ): Promise<DeletedDestinationDto> {
    return this.destinations.delete(caller, author, id);
  }

  @Post(':id/test')
  @Members('develop')
  @HttpCode(200)
  @ApiOperation({
    operationId: 'testDestination',
    summary: 'Send a made-up trace to a destination',
    description: 'Once, without retries; the answer tells how it went.',
  })
  @ApiParam(ID)
  @ApiOkResponse({ type: DestinationTestDto })
  @ApiErrorResponse(403, RESTRICTED)
  @ApiErrorResponse(404, UNKNOWN)
  @ApiErrorResponse(429, 'Another test of this tenant is under way.')
  test(
    @CurrentCaller() caller: Caller,
    @CurrentAuthor() author: Author,
    @Param('id') id: string,
  ): Promise<DestinationTestDto> {
    return this.destinations.test(caller, author, id);
  }
}
