import {
  createParamDecorator,
  Injectable,
  type ExecutionContext,
  type PipeTransform,
} from '@nestjs/common';
import type { Request } from 'express';
import type { JsonBody } from '../common/http/json-body.js';
import { readJsonBody } from '../common/http/read-json-body.js';

/** Reads the body when the handler's parameters are made, which is after guards and limits. */
@Injectable()
class ReadInferenceBodyPipe implements PipeTransform<Request, Promise<JsonBody>> {
  transform(request: Request): Promise<JsonBody> {
    return readJsonBody(request);
  }
}

const RequestParam = createParamDecorator((_: unknown, context: ExecutionContext) =>
  context.switchToHttp().getRequest<Request>(),
);

/** The body of an inference call as received; its dialect's `parse` checks and reads it. */
export const InferenceBody = (): ParameterDecorator => RequestParam(ReadInferenceBodyPipe);
