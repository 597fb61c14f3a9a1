import type { NextFunction, Request, Response } from 'express';
import type { BudgetedRequest } from '../platform/http/body-budget.js';

/** Where clients of the Azure flavour of the API ask; everything else about them is the same. */
const BASE = '/openai/';

/** A deployment is a model, whose slash may stand plain or encoded. */
const DEPLOYMENT =
  /^deployments\/(.+?)\/((?:chat\/)?completions|embeddings|audio\/(?:speech|transcriptions|translations)|images\/(?:generations|edits)|responses)\/?$/;

/** What the flavour has without a deployment; an account's own paths are not to be had by another name. */
const OTHER =
  /^(?:v1\/)?((?:chat\/completions|completions|conversations|embeddings|audio|images|models|responses|videos)(?:\/.*)?)$/;

/** Names the flavour's release; there is only the present one here. */
const VERSION_PARAM = 'api-version';

/**
 * Leads `/openai/deployments/<model>/<path>`, `/openai/v1/<path>` and `/openai/<path>` to `/v1/<path>`,
 * with the model of the path in the body and the key of `api-key` as the bearer key. So those paths have
 * the very handlers, guards and limits of the ones that they stand for.
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
    // A path that nobody can read stays, and is unknown.
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
