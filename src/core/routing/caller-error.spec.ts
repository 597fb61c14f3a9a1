import { describe, expect, it } from '@jest/globals';
import { UpstreamError, type UpstreamErrorFields } from '../../vendors/upstream-error.js';
import { brokenAnswerError, callerErrorOf, type RouteFailure } from './caller-error.js';
import type { PlannedRoute } from './plan.js';

function failed(
  fields: Partial<UpstreamErrorFields>,
  provider = 'openai',
  model = 'openai/gpt',
): RouteFailure {
  return {
    route: { provider, model } as PlannedRoute,
    error: new UpstreamError({ failure: 'server', message: 'vendor secret', ...fields }),
  };
}

const server = failed({ failure: 'server' });
const limited = failed({ failure: 'rate_limited', retryAfterMs: 4_200 }, 'azure');
const timeout = failed({ failure: 'timeout' });
const tooLong = failed({ failure: 'context_length', message: 'maximum context length is 10' });
const unable = failed({ failure: 'unsupported', message: 'cannot' }, 'anthropic');
const late: RouteFailure = {
  route: { provider: 'azure', model: 'openai/gpt' } as PlannedRoute,
  error: new UpstreamError(
    { failure: 'connect', message: 'x' },
    { cause: Object.assign(new Error('x'), { code: 'UND_ERR_CONNECT_TIMEOUT' }) },
  ),
};
const operator = failed({ failure: 'operator', status: 401 }, 'anthropic', 'anthropic/claude');

describe(callerErrorOf.name, () => {
  it.each<[string, RouteFailure[], object]>([
    ['one server error', [server], { status: 502, type: 'provider_error', param: 'model' }],
    [
      'only overload',
      [failed({ status: 529 }), failed({ status: 529 }, 'azure')],
      { status: 502, type: 'provider_error', name: 'ProviderOverloadedError' },
    ],
    ['overload and a server error', [failed({ status: 529 }), server], { name: 'ProviderError' }],
    ['an operator’s rejected key', [operator], { status: 502, type: 'provider_error' }],
    ['mixed failures', [limited, server], { status: 502 }],
    ['mixed failures, in reverse order', [server, limited], { status: 502 }],
    [
      'only rate limits',
      [failed({ failure: 'rate_limited', retryAfterMs: 9_000 }), limited],
      { status: 429, type: 'rate_limit_error', param: 'model', retryAfterSeconds: 5 },
    ],
    [
      'a rate limit without a duration',
      [failed({ failure: 'rate_limited' })],
      { status: 429, retryAfterSeconds: 1 },
    ],
    [
      'a rate limit that has expired',
      [failed({ failure: 'rate_limited', retryAfterMs: 0 })],
      { status: 429, retryAfterSeconds: 1 },
    ],
    ['only timeouts', [timeout, timeout], { status: 504, type: 'timeout_error' }],
    [
      'a rate limit on the second try',
      [server, { ...limited, route: server.route }],
      { status: 429 },
    ],
    [
      'another failure on the second try',
      [{ ...limited, route: server.route }, server],
      { status: 502 },
    ],
    ['a rate limit and an incapable vendor', [unable, limited], { status: 429 }],
    ['a timeout and an incapable vendor', [timeout, unable], { status: 504 }],
    ['a timeout and a connect timeout', [timeout, late], { status: 504 }],
    [
      'a timeout and a refused connection',
      [timeout, failed({ failure: 'connect' })],
      { status: 502 },
    ],
    ['a timeout and a reset', [timeout, failed({ failure: 'reset' })], { status: 502 }],
    [
      'a prompt too long for every model',
      [tooLong, tooLong],
      {
        status: 400,
        param: 'messages',
        message: expect.stringContaining('maximum context length is 10') as unknown,
      },
    ],
    ['a prompt too long for one model', [tooLong, server], { status: 502 }],
    [
      'a bad request',
      [server, failed({ failure: 'caller', message: 'bad stop', param: 'stop' })],
      { status: 400, type: 'invalid_request_error', param: 'stop', message: 'bad stop' },
    ],
    [
      'a bad request without a field',
      [failed({ failure: 'caller', message: 'bad' })],
      { status: 400, param: 'body', message: 'bad' },
    ],
    ['no failure at all', [], { status: 500, type: 'internal_error' }],
  ])('describes %s', (_, failures, expected) => {
    expect(callerErrorOf(failures, { dialect: 'chat' })).toMatchObject(expected);
  });

  it('lists each tried route once, without the vendors’ own words', () => {
    const { message } = callerErrorOf([server, server, limited, operator], { dialect: 'chat' });
    expect(message).toBe(
      'No provider could answer; tried openai for openai/gpt (failed), azure for openai/gpt ' +
        "(rate limited), anthropic for anthropic/claude (refused the gateway's account). " +
        'Try again later.',
    );
    for (const failures of [[server], [limited], [timeout], [operator]]) {
      expect(callerErrorOf(failures, { dialect: 'chat' }).message).not.toContain('vendor secret');
    }
  });
});

describe(brokenAnswerError.name, () => {
  const { route } = server;

  it.each(['reset', 'cut', 'server', 'unreadable', 'rate_limited', 'caller'] as const)(
    'maps %s to a provider error without details',
    (failure) => {
      const error = brokenAnswerError(
        route,
        new UpstreamError({ failure, message: 'vendor secret' }),
      );
      expect(error).toMatchObject({ status: 502, type: 'provider_error', param: 'model' });
      expect(error.message).toBe('The answer from openai was interrupted.');
    },
  );

  it('maps a timeout to a timeout', () => {
    expect(brokenAnswerError(route, timeout.error)).toMatchObject({
      status: 504,
      type: 'timeout_error',
      message: 'The answer from openai timed out. Try again.',
    });
  });
});

describe("a failure of the tenant's own account", () => {
  const ofOwnAccount = (fields: Partial<UpstreamErrorFields>): RouteFailure => {
    const { route, error } = failed(fields);
    return { route: { ...route, byok: { hasTenantAddress: false } } as PlannedRoute, error };
  };
  const refused = ofOwnAccount({ failure: 'operator', status: 401 });

  it.each([
    ['alone', [refused]],
    ['with shared capacity as a fallback', [refused, server]],
    ['and other failures', [ofOwnAccount({ failure: 'rate_limited' }), refused]],
  ])('names the credentials, %s', (_name, failures) => {
    const described = callerErrorOf(failures, { dialect: 'chat' });
    expect(described).toMatchObject({ status: 502, param: 'provider-credentials' });
    expect(described.message).toContain('openai with your own credential for openai/gpt');
    expect(described.message).not.toContain('vendor secret');
  });

  it('names the model when the account is not at fault', () => {
    const described = callerErrorOf([ofOwnAccount({ failure: 'server' })], { dialect: 'chat' });
    expect(described).toMatchObject({ status: 502, param: 'model' });
    const limits = callerErrorOf([ofOwnAccount({ failure: 'rate_limited' })], {
      dialect: 'chat',
    });
    expect(limits).toMatchObject({ status: 429, param: 'model' });
  });
});
