import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post, Query } from '@nestjs/common';
import { ApiCreatedResponse, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { CurrentAuthor, type Author } from '../../core/access/author.js';
import { type Caller } from '../../core/access/caller.js';
import {
  ApiChange,
  ApiFields,
  ApiFilters,
  ApiOwn,
  Customer,
} from '../../core/access/customer.decorator.js';
import { CurrentCaller } from '../../core/access/gateway-request.js';
import { Members } from '../../core/access/roles.js';
import { ApiErrorResponse } from '../../platform/errors/error-response.js';
import { ReadsJsonBody } from '../../platform/http/read-json-body.js';
import { TENANT_PRESETS } from './alert-presets.js';
import { AlertsService } from './alerts.service.js';
import {
  AlertDto,
  AlertEventPageDto,
  AlertEventQueryDto,
  AlertListDto,
  AlertTestDto,
  CreateAlertDto,
  DeletedAlertDto,
  UpdateAlertDto,
} from './alerts.dto.js';

const ALERT = 'alert';
/** The field in the example of a 400 response. */
const FIELD = 'condition.credits';

@ApiTags('Customer')
@Customer()
@Members('read')
@Controller('v1/customer/alerts')
export class CustomerAlertsController {
  constructor(private readonly alerts: AlertsService) {}

  @Get()
  @ApiOperation({
    operationId: 'listAlerts',
    summary: "List the tenant's alerts",
    description: '`presets` contains suggested alerts that do not exist yet.',
  })
  @ApiOkResponse({ type: AlertListDto })
  async list(@CurrentCaller() { tenantId }: Caller): Promise<AlertListDto> {
    return { data: await this.alerts.list(tenantId), presets: TENANT_PRESETS };
  }

  @Post()
  @Members('develop')
  @ReadsJsonBody()
  @ApiOperation({
    operationId: 'createAlert',
    summary: 'Create an alert',
    description:
      'Evaluated every 15 seconds. Sends one notification per period within a minute, and another when the condition ends.',
  })
  @ApiCreatedResponse({ type: AlertDto })
  @ApiFields(
    CreateAlertDto,
    {
      'Less than 5 USD are left': {
        name: 'Credits run out',
        kind: 'balance_below',
        condition: { credits: 5_000_000 },
        url: 'https://hooks.example.com/alerts',
      },
      'One in ten requests fails, to a Slack-shaped URL': {
        name: 'Requests fail',
        kind: 'error_rate',
        condition: { percent: 10, window_minutes: 10 },
        format: 'slack',
        url: 'https://chat.example.com/hooks/xxx-generatedkey-xxx',
      },
    },
    FIELD,
  )
  @ApiChange()
  create(
    @CurrentCaller() caller: Caller,
    @CurrentAuthor() author: Author,
    @Body() body: CreateAlertDto,
  ): Promise<AlertDto> {
    return this.alerts.create({ caller, author }, body);
  }

  @Get(':id')
  @ApiOperation({ operationId: 'getAlert', summary: 'Get an alert' })
  @ApiOkResponse({ type: AlertDto })
  @ApiOwn(ALERT)
  get(@CurrentCaller() { tenantId }: Caller, @Param('id') id: string): Promise<AlertDto> {
    return this.alerts.get(tenantId, id);
  }

  @Patch(':id')
  @Members('develop')
  @ReadsJsonBody()
  @ApiOperation({
    operationId: 'updateAlert',
    summary: 'Update an alert',
    description:
      'Omitted fields keep their values; `condition` is replaced as a whole. A new condition, or disabling the alert, ends its current state without a notification.',
  })
  @ApiOkResponse({ type: AlertDto })
  @ApiFields(UpdateAlertDto, { 'Off for now': { enabled: false } }, FIELD)
  @ApiChange()
  @ApiOwn(ALERT)
  update(
    @CurrentCaller() caller: Caller,
    @CurrentAuthor() author: Author,
    @Param('id') id: string,
    @Body() body: UpdateAlertDto,
  ): Promise<AlertDto> {
    return this.alerts.update({ caller, author }, id, body);
  }

  @Delete(':id')
  @Members('develop')
  @ApiOperation({
    operationId: 'deleteAlert',
    summary: 'Delete an alert and its pending deliveries',
  })
  @ApiOkResponse({ type: DeletedAlertDto })
  @ApiChange()
  @ApiOwn(ALERT)
  delete(
    @CurrentCaller() caller: Caller,
    @CurrentAuthor() author: Author,
    @Param('id') id: string,
  ): Promise<DeletedAlertDto> {
    return this.alerts.delete({ caller, author }, id);
  }

  @Post(':id/test')
  @Members('develop')
  @HttpCode(200)
  @ApiOperation({
    operationId: 'testAlert',
    summary: "Send a test message to an alert's receiver",
    description: 'Sent once, without retries. The response contains the outcome.',
  })
  @ApiOkResponse({ type: AlertTestDto })
  @ApiChange()
  @ApiOwn(ALERT)
  @ApiErrorResponse(429, 'Another test of this tenant is in progress.')
  test(
    @CurrentCaller() caller: Caller,
    @CurrentAuthor() author: Author,
    @Param('id') id: string,
  ): Promise<AlertTestDto> {
    return this.alerts.test({ caller, author }, id);
  }
}

@ApiTags('Customer')
@Customer()
@Members('read')
@Controller('v1/customer/alert-events')
export class CustomerAlertEventsController {
  constructor(private readonly alerts: AlertsService) {}

  @Get()
  @ApiOperation({
    operationId: 'listAlertEvents',
    summary: 'List alert events of the last 90 days, with their deliveries',
  })
  @ApiOkResponse({ type: AlertEventPageDto })
  @ApiFilters()
  list(
    @CurrentCaller() { tenantId }: Caller,
    @Query() query: AlertEventQueryDto,
  ): Promise<AlertEventPageDto> {
    return this.alerts.listEvents(tenantId, query);
  }
}
