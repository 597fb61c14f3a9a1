import { describe, expect, it } from '@jest/globals';
import { allCallers } from '../contract/callers/all-callers.js';
import type { CallerAnswer, DialectCaller } from '../contract/callers/dialect-caller.js';
import { responsesCaller } from '../contract/callers/responses.caller.js';
import { QUESTION, RESULTS, SYSTEM } from '../contract/contract-conversation.js';
import type { ReadRequest, ScriptedAnswer } from '../contract/contract-vendor.js';
import { startFleet } from '../contract/fleet-of-suite.js';
import { type VendorFleet, type FleetMember } from '../contract/vendor-fleet.js';

/** The vendors of the turns; every vendor that signs its reasoning comes twice. */
const TURNS = [
  'openai',
  'anthropic',
  'vertex',
  'bedrock',
  'compatible',
  'azure',
  'openai',
  'anthropic',
  'vertex',
  'bedrock',
  'vertex-claude',
];

/** Makers of models: signatures are valid on every platform that offers the model. */
const MAKERS: Record<string, string> = { bedrock: 'anthropic', 'vertex-claude': 'anthropic' };

const CALLERS = ['chat', 'messages', 'responses', 'responses without a store'] as const;

/** Vendors that also sign calls, and those that encrypt some reasoning completely. */
const SIGNATURES_CALLS = ['vertex'];
const ENCRYPTS = ['anthropic', 'vertex-claude'];
/** Vendors that accept encrypted reasoning of their model's maker. */
const TAKES_ENCRYPTED = ENCRYPTS;

type SignatureKind = 'signature' | 'encrypted' | 'call';

/** Base64, like vendors' signatures, and different in each turn. */
function signatureBy(turn: number, kind: SignatureKind): string {
  return Buffer.from(`${kind} of turn ${turn} by ${TURNS[turn]}`).toString('base64');
}

function answerOf(turn: number): ScriptedAnswer {
  return {
    reasoning: {
      text: `Thought ${turn}.`,
      signature: signatureBy(turn, 'signature'),
      encrypted: signatureBy(turn, 'encrypted'),
    },
    text: `Answer ${turn}.`,
    toolCalls: [
      {
        id: `call_${turn}`,
        name: 'get_weather',
        arguments: `{"days":${turn}}`,
        signature: signatureBy(turn, 'call'),
      },
    ],
    finish: 'tool_calls',
    usage: { input: 100 + turn, output: 10 },
  };
}

/** The earlier turns that a turn's vendor must receive. */
function conversationUpTo(turn: number): ReadRequest['turns'] {
  const before = Array.from({ length: turn }, (_, index) => index);
  return [
    { role: 'user', text: QUESTION, toolCalls: [], toolResults: [] },
    ...before.flatMap((index): ReadRequest['turns'] => [
      {
        role: 'assistant',
        text: `Answer ${index}.`,
        toolCalls: [{ name: 'get_weather', arguments: { days: index } }],
        toolResults: [],
      },
      { role: 'user', text: '', toolCalls: [], toolResults: [RESULTS[0]!] },
    ]),
  ];
}

const ALL_SIGNATURES = [...TURNS.keys()].flatMap((turn) =>
  (['signature', 'encrypted', 'call'] as const).map((kind) => [turn, kind] as const),
);
const join = ([turn, kind]: readonly [number, SignatureKind]): string => `${turn} ${kind}`;

describe('a conversation with another vendor in each turn', () => {
  let fleet: VendorFleet;
  let callers: Record<(typeof CALLERS)[number], DialectCaller>;

  startFleet((started) => {
    fleet = started;
    callers = {
      ...allCallers(fleet.gateway),
      'responses without a store': responsesCaller(fleet.gateway, { isStateless: true }),
    };
  });

  const combinations = CALLERS.flatMap((name) => [false, true].map((stream) => ({ name, stream })));

  it.each(combinations)(
    'is sent completely to each of them, with only its own signatures: $name (stream: $stream)',
    async ({ name, stream }) => {
      const caller = callers[name];
      const answers: CallerAnswer[] = [];
      for (const [turn, vendor] of TURNS.entries()) {
        const member = fleet.member(vendor);
        member.answer(answerOf(turn));
        const answer =
          turn === 0
            ? await caller.open(member.model, stream)
            : await caller.answerTools(member.model, stream, answers);
        answers.push(answer);
        expect(answer).toMatchObject({
          text: `Answer ${turn}.`,
          toolCalls: [{ id: `call_${turn}`, arguments: { days: turn } }],
          model: member.model,
        });
        expect(member.lastRequest()).toMatchObject({
          system: SYSTEM,
          turns: conversationUpTo(turn),
        });
        const signatures = { turn, signatures: signaturesIn(member) };
        expect(signatures).toEqual({ turn, signatures: ownSignatures(turn, caller) });
        const sent = String(member.server.calls.at(-1)!.body);
        // Makers are named inside the gateway and to callers, never to a vendor.
        expect(sent).not.toMatch(
          /"(?:anthropic|bedrock|google|openai|call|redacted)(?:-[a-z-]+)?:/,
        );
      }
    },
  );

  /** Returns the signatures in the vendor's last request. */
  function signaturesIn(member: FleetMember): string[] {
    const sent = String(member.server.calls.at(-1)!.body);
    return ALL_SIGNATURES.filter(([turn, kind]) => sent.includes(signatureBy(turn, kind))).map(
      join,
    );
  }

  /** Returns the signatures of earlier turns by the same maker, if its API accepts them. */
  function ownSignatures(turn: number, { name }: DialectCaller): string[] {
    const vendor = TURNS[turn]!;
    const maker = makerOf(turn);
    const takesSignatures =
      maker !== 'azure' && maker !== 'compatible' && (maker !== 'openai' || name === 'responses');
    if (!takesSignatures) return [];
    return ALL_SIGNATURES.filter(([before, kind]) => {
      if (before >= turn || makerOf(before) !== maker) return false;
      if (kind === 'call') return SIGNATURES_CALLS.includes(TURNS[before]!);
      if (kind === 'signature') return true;
      return ENCRYPTS.includes(TURNS[before]!) && TAKES_ENCRYPTED.includes(vendor);
    }).map(join);
  }

  function makerOf(turn: number): string {
    return MAKERS[TURNS[turn]!] ?? TURNS[turn]!;
  }
});
