import { Controller, Get, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { Authenticated } from '../../../core/access/authenticated.decorator.js';
import { type Caller } from '../../../core/access/caller.js';
import { CurrentCaller } from '../../../core/access/gateway-request.js';
import { ApiErrorResponse } from '../../../platform/errors/error-response.js';
import { GenerationDto, GenerationQueryDto, CompatibleGenerationDto } from './generation.dto.js';
import {
  GenerationService,
  toCompatibleGeneration,
  toGenerationRecord,
} from './generation.service.js';
import { Members } from '../../../core/access/roles.js';

const ARCHIVE_IS_AWAY = 'The request is archived and the archive is unavailable.';

/** The record of `/v1/generation` with additional fields. */
@ApiTags('Generation')
@Authenticated('any')
@Members('read')
@Controller('api/v1/generation')
export class CompatibleGenerationController {
  constructor(private readonly generation: GenerationService) {}

  @Get()
  @ApiOperation({
    operationId: 'getCompatibleGeneration',
    summary: 'Get usage and cost of a request',
    description: 'Available as soon as the request has ended.',
  })
  @ApiOkResponse({ type: CompatibleGenerationDto })
  @ApiErrorResponse(400, 'The `id` is missing.')
  @ApiErrorResponse(404, 'The tenant has no request with this id.')
  @ApiErrorResponse(503, ARCHIVE_IS_AWAY)
  async get(
    @CurrentCaller() caller: Caller,
    @Query() query: GenerationQueryDto,
  ): Promise<CompatibleGenerationDto> {
    return { data: toCompatibleGeneration(await this.generation.get(caller, query.id)) };
  }
}

@ApiTags('Generation')
@Authenticated('any')
@Members('read')
@Controller('v1/generation')
export class GenerationController {
  constructor(private readonly generation: GenerationService) {}

  @Get()
  @ApiOperation({
    operationId: 'getGeneration',
    summary: 'Get usage and cost of a request',
    description: 'Available as soon as the request has ended.',
  })
  @ApiOkResponse({ type: GenerationDto })
  @ApiErrorResponse(400, 'The `id` is missing.')
  @ApiErrorResponse(404, 'The tenant has no request with this id.')
  @ApiErrorResponse(503, ARCHIVE_IS_AWAY)
  async get(
    @CurrentCaller() caller: Caller,
    @Query() query: GenerationQueryDto,
  ): Promise<GenerationDto> {
    return { data: toGenerationRecord(await this.generation.get(caller, query.id)) };
  }
}
