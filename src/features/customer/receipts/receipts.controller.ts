import { Controller, Get, Header, Param } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiParam, ApiTags } from '@nestjs/swagger';
import { type Caller } from '../../../core/access/caller.js';
import { Customer } from '../../../core/access/customer.decorator.js';
import { CurrentCaller } from '../../../core/access/gateway-request.js';
import { Members } from '../../../core/access/roles.js';
import { SigningKeys } from '../../../core/ledger/receipts/signing-keys.service.js';
import { ApiErrorResponse } from '../../../platform/errors/error-response.js';
import { KeySetDto, SignedReceiptDto } from './receipts.dto.js';
import { ReceiptsService } from './receipts.service.js';

@ApiTags('Customer')
@Customer()
@Members('money')
@Controller('v1/customer/receipts')
export class ReceiptsController {
  constructor(private readonly receipts: ReceiptsService) {}

  @Get(':request_id')
  @ApiOperation({
    operationId: 'getReceipt',
    summary: 'Get the signed receipt of a request',
    description:
      'Explains the cost line by line, at the prices of the settlement. Available as soon as the request has ' +
      'ended. The signature can be verified without the gateway.',
  })
  @ApiParam({ name: 'request_id', format: 'uuid', description: '`x-request-id` of the response.' })
  @ApiOkResponse({ type: SignedReceiptDto })
  @ApiErrorResponse(404, 'The tenant has no request with this id, or its log row was deleted.')
  @ApiErrorResponse(503, 'The request is archived and the archive is unavailable.')
  get(
    @CurrentCaller() caller: Caller,
    @Param('request_id') requestId: string,
  ): Promise<SignedReceiptDto> {
    return this.receipts.get(caller, requestId);
  }
}

/** For verifying receipts without an API key. */
@ApiTags('Operations')
@Controller('.well-known')
export class KeySetController {
  constructor(private readonly keys: SigningKeys) {}

  @Get('jwks.json')
  @Header('cache-control', 'public, max-age=300')
  @ApiOperation({
    operationId: 'listSigningKeys',
    summary: 'Get the public keys of receipts',
    description: 'A JSON Web Key Set (RFC 7517). Previous keys stay listed.',
  })
  @ApiOkResponse({ type: KeySetDto })
  @ApiErrorResponse(503, 'The database is unavailable; see `Retry-After`.')
  async list(): Promise<KeySetDto> {
    return { keys: await this.keys.publicKeys() };
  }
}
