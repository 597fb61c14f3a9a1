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
/** A field as an error names it. */
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
    description: 'With `presets`: alerts that most want, offered and not made.',
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
    summary: 'Be told of something at a URL',
    description:
      'It is looked for every 15 seconds and told within a minute, once in its period, and once more when it is over.',
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
  @ApiOperation({ operationId: 'getAlert', summary: 'Read an alert' })
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
    summary: 'Change an alert',
    description:
      'What is left out stays as it is; `condition` is replaced as a whole. With another condition, or when it is turned off, what was the case before is forgotten.',
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
    summary: 'Delete an alert, and what it has still to tell',
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
    summary: 'Send a made-up message to where an alert goes',
    description: 'Once, without retries; the answer tells how it went.',
  })
  @ApiOkResponse({ type: AlertTestDto })
  @ApiChange()
  @ApiOwn(ALERT)
  @ApiErrorResponse(429, 'Another test of this tenant is under way.')
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
    summary: "List what the tenant's alerts told in the last 90 days, and how the deliveries went",
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
