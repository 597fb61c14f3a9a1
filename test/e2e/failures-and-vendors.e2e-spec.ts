import { describe, expect, it } from '@jest/globals';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { allCallers, DIALECTS } from '../contract/callers/all-callers.js';
import type { DialectCaller } from '../contract/callers/dialect-caller.js';
import type { FailureKind, Reply } from '../contract/contract-vendor.js';
import { startFleet } from '../contract/fleet-of-suite.js';
import { FLEET_NAMES, type FleetMember, type VendorFleet } from '../contract/vendor-fleet.js';
import { loggedRequest } from '../support/logged-request.js';

/** Error types of an interrupted answer by dialect. */
const WORDS = { responses: 'server_error', messages: 'api_error', chat: 'provider_error' };

/** Vendors with a separate status for overload, which they also use when a stream is interrupted. */
const SAYS_529: ReadonlySet<string> = new Set(['anthropic', 'vertex-claude']);

interface Outcome {
  /** The error class that clients throw. */
  name: 'BadRequestError' | 'RateLimitError' | 'InternalServerError';
  status: number;
  type: string;
}

const CALLERS: Outcome = { name: 'BadRequestError', status: 400, type: 'invalid_request_error' };
const VENDORS: Outcome = { name: 'InternalServerError', status: 502, type: 'provider_error' };

/** Expected outcomes of a vendor's refusals. */
const OUTCOMES: Record<FailureKind, Outcome> = {
  bad_request: CALLERS,
  context_length: CALLERS,
  bad_key: VENDORS,
  rate_limited: { name: 'RateLimitError', status: 429, type: 'rate_limit_error' },
  overloaded: VENDORS,
  server: VENDORS,
};

const KINDS = Object.keys(OUTCOMES) as FailureKind[];

/** The texts that clients of the vendors look for when a prompt is too long. */
const TOO_LONG = /prompt is too long.*exceeds the context window.*context_length_exceeded/;

/** Longer than the gateway itself waits. */
const RETRY_AFTER_S = '30';

const COMBINATIONS = FLEET_NAMES.flatMap((vendor) =>
  DIALECTS.map((dialect) => ({ vendor, dialect })),
);

describe('failures of every vendor, as seen by clients of every dialect', () => {
  let fleet: VendorFleet;
  let callers: Record<DialectCaller['name'], DialectCaller>;

  startFleet((started) => {
    fleet = started;
    callers = allCallers(fleet.gateway);
  });

  it.each(FLEET_NAMES)('refusals by %s, in every dialect', async (vendor) => {
    const member = fleet.member(vendor);
    for (const kind of KINDS) {
      member.respond((spelling) => patient(spelling.failure(kind), kind));
      await Promise.all(
        DIALECTS.flatMap((dialect) =>
          [false, true].map(async (stream) => {
            const error = await thrownBy(callers[dialect].ask(member.model, stream));
            if (kind === 'context_length' && dialect === 'responses' && stream) {
              return expectTooLongInStream(error);
            }
            await expectTold(error, { kind, dialect, member });
          }),
        ),
      );
    }
  });

  /** OpenAI's own stream error, whose code agents recognize. */
  function expectTooLongInStream(thrown: unknown): void {
    expect(thrown).toBeInstanceOf(OpenAI.APIError);
    const { status, code, message } = thrown as InstanceType<typeof OpenAI.APIError>;
    expect({ status, code }).toEqual({ status: undefined, code: 'context_length_exceeded' });
    expect(message).toMatch(TOO_LONG);
  }

  async function expectTold(thrown: unknown, { kind, dialect, member }: Refusal): Promise<void> {
    const { name, type: logged } = OUTCOMES[kind];
    const isOverload = kind === 'overloaded' && SAYS_529.has(member.name);
    const { status, type } = toldIn(dialect, OUTCOMES[kind], isOverload);
    const { [name]: ErrorClass } = dialect === 'messages' ? Anthropic : OpenAI;
    expect({ kind, thrown }).toEqual({ kind, thrown: expect.any(ErrorClass) as unknown });
    const error = thrown as InstanceType<typeof OpenAI.APIError>;
    expect({ status: error.status, type: error.type }).toEqual({ status, type });
    const body = bodyOf(error);
    expect(body).toEqual({
      type,
      code: status,
      param: paramOf(kind, dialect, member.name),
      message: expect.stringMatching(kind === 'context_length' ? TOO_LONG : /./) as unknown,
    });
    const { headers } = error;
    expect(headers!.get('retry-after')).toBe(kind === 'rate_limited' ? RETRY_AFTER_S : null);
    const row = await loggedRequest(fleet.gateway.database, headers!.get('x-request-id'));
    expect(row).toMatchObject({
      provider: member.provider,
      status: 'error',
      error_type: logged,
      cost: 0,
    });
  }

  /** The messages dialect has its own error types, and keeps its vendor's status for overload. */
  function toldIn(
    dialect: DialectCaller['name'],
    outcome: Outcome,
    isOverload: boolean,
  ): Pick<Outcome, 'status' | 'type'> {
    if (dialect !== 'messages' || outcome !== VENDORS) return outcome;
    return isOverload
      ? { status: 529, type: 'overloaded_error' }
      : { status: outcome.status, type: 'api_error' };
  }

  it.each(COMBINATIONS)(
    'an interruption by $vendor in a stream, in $dialect',
    async (combination) => {
      const { vendor, dialect } = combination;
      const member = fleet.member(vendor);
      const caller = callers[dialect];
      member.failMidStream('Half a ');
      const { text, failure } = await caller.watch(member.model);
      expect(text).toBe('Half a ');
      expect(failure).toMatchObject({
        type: { ...WORDS, ...(SAYS_529.has(vendor) && { messages: 'overloaded_error' }) }[dialect],
        message: expect.stringContaining(member.provider) as unknown,
      });
      const row = await loggedRequest(fleet.gateway.database, caller.lastRequestId());
      expect(row).toMatchObject({ provider: member.provider, status: 'error', cost: 0 });
    },
  );

  it.each(COMBINATIONS)('answers cut by $vendor, in $dialect', async (combination) => {
    const { vendor, dialect } = combination;
    const member = fleet.member(vendor);
    const caller = callers[dialect];
    for (const finish of ['length', 'content_filter'] as const) {
      member.answer({ text: 'Well', finish, usage: { input: 10, output: 1 } });
      for (const stream of [false, true]) {
        const { text, end } = await caller.ask(member.model, stream);
        expect({ finish, stream, text, end }).toEqual({
          finish,
          stream,
          text: 'Well',
          end: caller.ends[finish],
        });
      }
    }
  });

  async function thrownBy(request: Promise<unknown>): Promise<unknown> {
    try {
      return { answered: await request };
    } catch (error) {
      return error;
    }
  }
});

interface Refusal {
  kind: FailureKind;
  dialect: DialectCaller['name'];
  member: FleetMember;
}

/** Returns the field at fault in the caller's dialect, if the vendor names it. */
function paramOf(kind: FailureKind, dialect: DialectCaller['name'], vendor: string): string {
  const conversation = dialect === 'responses' ? 'input' : 'messages';
  if (kind === 'context_length') return conversation;
  if (kind !== 'bad_request') return 'model';
  if (vendor === 'vertex') return 'body';
  return vendor === 'bedrock' ? conversation : 'temperature';
}

/** A rate limit with a longer wait than the gateway accepts. */
function patient(failure: Reply, kind: FailureKind): Reply {
  if (kind !== 'rate_limited') return failure;
  const headers: Record<string, string> = { ...failure.headers, 'retry-after': RETRY_AFTER_S };
  delete headers['retry-after-ms'];
  return { ...failure, headers };
}

/** Returns the error object of the body, which the two packages store differently. */
function bodyOf({ error }: { error: unknown }): unknown {
  return (error as { error?: object }).error ?? error;
}
