import type { NextFunction, Request, Response } from 'express';
import type { BudgetedRequest } from '../platform/http/body-budget.js';

/** Base path of Azure OpenAI clients. Everything else about them is the same. */
const BASE = '/openai/';

/** A deployment is a model, whose slash may be plain or percent-encoded. */
const DEPLOYMENT =
  /^deployments\/(.+?)\/((?:chat\/)?completions|embeddings|audio\/(?:speech|transcriptions|translations)|images\/(?:generations|edits)|responses)\/?$/;

/** Paths without a deployment. The gateway's own paths (account, admin) have no such variant. */
const OTHER =
  /^(?:v1\/)?((?:chat\/completions|completions|conversations|embeddings|audio|images|models|responses|videos)(?:\/.*)?)$/;

/** Azure's API version, which is ignored. */
const VERSION_PARAM = 'api-version';

/**
 * Rewrites `/openai/deployments/<model>/<path>`, `/openai/v1/<path>` and `/openai/<path>` to
 * `/v1/<path>`, with the path's model in the body and `api-key` as the bearer key. These paths
 * therefore share handlers, guards and limits with the canonical ones.
 */
export function deploymentPathsMiddleware(
  request: Request,
  _response: Response,
  next: NextFunction,
): void {
  if (request.url.startsWith(BASE)) rewrite(request);
  next();
}

function rewrite(request: Request & BudgetedRequest): void {
  const [path = '', ...rests] = request.url.slice(BASE.length).split('?');
  const query = rests.join('?');
  const [, deployment, operation] = DEPLOYMENT.exec(path) ?? [];
  if (deployment !== undefined) {
    const model = decode(deployment);
    // A path that cannot be decoded stays as it is and becomes a 404.
    if (model === undefined) return;
    request.membersOfPath = { model };
  }
  const rest = operation ?? OTHER.exec(path)?.[1];
  if (rest === undefined) return;
  request.url = `/v1/${rest}${withoutVersion(query)}`;
  const key = request.headers['api-key'];
  if (typeof key === 'string') request.headers.authorization ??= `Bearer ${key}`;
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

function withoutVersion(query: string): string {
  const rest = query.split('&').filter((part) => !part.startsWith(`${VERSION_PARAM}=`));
  return rest.length === 0 || query === '' ? '' : `?${rest.join('&')}`;
}
