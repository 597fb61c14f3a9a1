import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Actor } from './caller.js';
import { callerOf, type GatewayRequest } from './gateway-request.js';

export type { Actor, ActorKind } from './caller.js';

/** The actor of a change and the id of its request; null for a change outside a request. */
export interface Author {
  readonly actor: Actor;
  readonly requestId: string | null;
}

/** Author of changes by operator commands. */
export const COMMAND_AUTHOR: Author = {
  actor: { kind: 'command', id: null, name: 'npm run gateway' },
  requestId: null,
};

/** Author of changes at startup: the first tenant and keys, and resources the settings declare. */
export const BOOTSTRAP_AUTHOR: Author = {
  actor: { kind: 'bootstrap', id: null, name: 'start of the service' },
  requestId: null,
};

/** Injects the author of changes into handlers behind `@Authenticated` or `@Operator`. */
export const CurrentAuthor = createParamDecorator((_: unknown, context: ExecutionContext): Author =>
  authorOf(context.switchToHttp().getRequest<GatewayRequest>()),
);

export function authorOf(request: GatewayRequest): Author {
  return { actor: actorOf(request), requestId: request.requestId };
}

function actorOf(request: GatewayRequest): Actor {
  const actor = request.operator?.actor ?? request.session?.actor;
  if (actor) return actor;
  const { apiKeyId, keyName } = callerOf(request);
  return { kind: 'api_key', id: apiKeyId, name: keyName };
}
