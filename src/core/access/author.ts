import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Actor } from './caller.js';
import { callerOf, type GatewayRequest } from './gateway-request.js';

export type { Actor, ActorKind } from './caller.js';

/** Who makes a change, and in which request; null: in none, as a command. */
export interface Author {
  readonly actor: Actor;
  readonly requestId: string | null;
}

/** What the operator's commands do. */
export const COMMAND_AUTHOR: Author = {
  actor: { kind: 'command', id: null, name: 'npm run gateway' },
  requestId: null,
};

/** What the first start makes, and each start of what the settings declare. */
export const BOOTSTRAP_AUTHOR: Author = {
  actor: { kind: 'bootstrap', id: null, name: 'start of the service' },
  requestId: null,
};

/** The author of what a handler behind `@Authenticated` or `@Operator` changes. */
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
