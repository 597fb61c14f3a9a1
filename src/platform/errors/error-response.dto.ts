import { ApiProperty } from '@nestjs/swagger';
import type { ErrorBody } from './error-body.js';
import { GATEWAY_ERROR_TYPES } from './gateway-errors.js';

class ErrorDetailDto {
  @ApiProperty({ description: 'What was wrong and what to do.' })
  message!: string;

  @ApiProperty({ enum: GATEWAY_ERROR_TYPES })
  type!: string;

  @ApiProperty({ type: 'integer', description: 'The HTTP status.' })
  code!: number;

  @ApiProperty({
    description: 'The field, header, path parameter or resource at fault.',
    example: 'model',
  })
  param!: string;
}

/** The body of every error, for the OpenAPI description. */
export class ErrorResponseDto implements ErrorBody {
  @ApiProperty({
    type: String,
    enum: ['error'],
    required: false,
    description: 'On the messages paths only.',
  })
  type?: 'error';

  @ApiProperty({ type: ErrorDetailDto })
  error!: ErrorDetailDto;
}
