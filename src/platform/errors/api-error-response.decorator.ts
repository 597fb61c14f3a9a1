import { ApiResponse } from '@nestjs/swagger';
import { ErrorResponseDto } from './error-response.dto.js';

/** Documents one error status of a handler with the interface's error body. */
export function ApiErrorResponse(
  status: number,
  description: string,
): ClassDecorator & MethodDecorator {
  return ApiResponse({ status, description, type: ErrorResponseDto });
}
