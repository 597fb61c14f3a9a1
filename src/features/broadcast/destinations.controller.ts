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
import { Members } from '../../core/access/roles.js';

const ID = { name: 'id', format: 'uuid' };
const UNKNOWN = 'The tenant has no destination with this id.';
const CREATE_EXAMPLE = { url: 'https://collector.example.com/v1/traces', sampling_rate: 0.1 };
const RESTRICTED =
  'Changes require a management key of this gateway, unless a management key created the destination.';

@ApiTags('Customer')
@Customer()
@Members('read')
@Controller('v1/customer/broadcast/destinations')
export class DestinationsController {
  constructor(private readonly destinations: DestinationsService) {}

  @Get()
  @ApiOperation({ operationId: 'listDestinations', summary: 'List trace destinations' })
  @ApiOkResponse({ type: DestinationListDto })
  async list(@CurrentCaller() caller: Caller): Promise<DestinationListDto> {
    return { data: await this.destinations.list(caller) };
  }

  @Post()
  @Members('develop')
  @ReadsJsonBody()
  @ApiOperation({
    operationId: 'createDestination',
    summary: 'Create a trace destination',
    description:
      'It receives traces of requests with the header `X-Gateway-Broadcast: true`, as OTLP JSON.',
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
    summary: 'Get a destination and its delivery status',
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
    summary: 'Update a destination',
    description:
      'Omitted fields keep their values. `headers` are replaced as a whole, except masked values. Changing `url` or `include_content` clears the stored headers unless they are sent again. Changing the server in `url` drops pending traces.',
  })
  @ApiParam(ID)
  @ApiOkResponse({ type: DestinationDto })
  @ApiFields(UpdateDestinationDto, { 'Disable for now': { enabled: false } }, 'url')
  @ApiErrorResponse(403, RESTRICTED)
  @ApiErrorResponse(404, UNKNOWN)
  @ApiErrorResponse(409, 'The destination was changed concurrently.')
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
    summary: 'Delete a destination and its pending traces',
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
    summary: 'Send a sample trace to a destination',
    description: 'Tries once, without retries, and returns the outcome.',
  })
  @ApiParam(ID)
  @ApiOkResponse({ type: DestinationTestDto })
  @ApiErrorResponse(403, RESTRICTED)
  @ApiErrorResponse(404, UNKNOWN)
  @ApiErrorResponse(429, 'Another test of this tenant is in progress.')
  test(
    @CurrentCaller() caller: Caller,
    @CurrentAuthor() author: Author,
    @Param('id') id: string,
  ): Promise<DestinationTestDto> {
    return this.destinations.test(caller, author, id);
  }
}
