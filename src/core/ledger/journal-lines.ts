import { createHash } from 'node:crypto';
import { readRequestOptions } from '../../canonical/request-options.js';
import { readTags } from '../../canonical/request-tags.js';
import { NO_USAGE, type Usage } from '../../canonical/usage.js';
import { isUuid } from '../../platform/database/stored-text.js';
import { isJsonObject, type JsonObject } from '../../platform/http/json-body.js';
import type { Charge } from './ledger-operations.js';
import { isAmount } from './pricing.js';
import {
  keyScope,
  type LoggedAttempt,
  type PricesUsed,
  type RequestLogDraft,
  type RequestOutcome,
} from '../request-log/request-log-row.js';
import { otherUsageText, readOtherUsage } from '../request-log/other-usage.js';
import { priceSnapshotOf, readPriceSnapshot } from './receipts/price-snapshot.js';

/** Format version of a line; lines of other versions are not read. */
const VERSION = 1;
const CHECKSUM_LENGTH = 16;
/** Model names come from callers. A log row with cut texts is better than none. */
const MAX_TEXT = 500;

/** A settlement without its record: figures and names only, no content and no keys. */
export interface JournalledSettlement {
  readonly log: RequestLogDraft;
  readonly charge: Charge;
  /** False for a request rejected before its credits were reserved. */
  readonly hadHold: boolean;
}

/** The parsed content of a journal. */
export interface JournalText {
  readonly settlements: readonly JournalledSettlement[];
  /** Numbers of damaged or missing lines, counted from 1. */
  readonly damagedLines: readonly number[];
  /** True when the end marker is present. */
  readonly isComplete: boolean;
}

/** Encodes a settlement as one line with a version and a checksum. */
export function toJournalLine({ log, charge, hadHold }: JournalledSettlement): string {
  return toLine({
    settlement: {
      requestId: log.requestId,
      tenantId: log.tenantId,
      apiKeyId: log.apiKeyId,
      endpoint: log.endpoint.slice(0, MAX_TEXT),
      model: log.model.slice(0, MAX_TEXT),
      provider: log.provider.slice(0, MAX_TEXT),
      outcome: log.outcome,
      errorType: log.errorType,
      finishReason: log.finishReason?.slice(0, MAX_TEXT) ?? null,
      trafficMode: log.trafficMode,
      usage: {
        inputTokens: finite(log.usage.inputTokens),
        outputTokens: finite(log.usage.outputTokens),
        cacheReadTokens: finite(log.usage.cacheReadTokens),
        cacheWriteTokens: finite(log.usage.cacheWriteTokens),
        reasoningTokens: finite(log.usage.reasoningTokens),
      },
      otherUsage: otherUsageText(log.usage),
      priceSheet: log.billedBy ? priceSnapshotOf(log.billedBy).json : null,
      usageSource: log.usageSource,
      billingNote: log.billingNote,
      streamed: log.streamed,
      flagged: log.flagged ?? false,
      latencyMs: finite(log.latencyMs),
      generationTimeMs: finite(log.generationTimeMs),
      firstTokenMs: log.firstTokenMs,
      vendorCost: log.vendorCost,
      vendorStartedMs: log.vendorStartedMs,
      attempts: log.attempts,
      endUser: log.endUser,
      tags: log.tags,
      asked: log.requestOptions,
      configVersion: log.configVersion ?? undefined,
      maxCost: log.maxCost,
      createdAt: log.createdAt.toISOString(),
      charge,
      hadHold,
    },
  });
}

/** Encodes the end marker, after `count` settlements. */
export function toJournalEnd(count: number): string {
  return toLine({ end: count });
}

/** Parses a journal as far as possible: the process may have died while writing it. */
export function readJournalText(text: string): JournalText {
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  const settlements: JournalledSettlement[] = [];
  const damagedLines: number[] = [];
  let isComplete = false;
  for (const [index, line] of lines.entries()) {
    const content = contentOf(line);
    const settlement = isJsonObject(content?.settlement)
      ? readSettlement(content.settlement)
      : undefined;
    isComplete = content?.end === settlements.length + damagedLines.length;
    if (settlement) settlements.push(settlement);
    else if (!isComplete) damagedLines.push(index + 1);
  }
  // The writing process died between two lines.
  if (!isComplete && damagedLines.at(-1) !== lines.length) damagedLines.push(lines.length + 1);
  return { settlements, damagedLines, isComplete };
}

function toLine(content: object): string {
  const text = JSON.stringify(content);
  return `{"v":${VERSION},"sha256":"${checksum(text)}","content":${text}}\n`;
}

/** Returns the content of a line; undefined when the line is damaged. */
function contentOf(line: string): JsonObject | undefined {
  let parsed: unknown;
  try {
    parsed = JSON.parse(line);
  } catch {
    return undefined;
  }
  if (!isJsonObject(parsed) || parsed.v !== VERSION || !isJsonObject(parsed.content)) {
    return undefined;
  }
  const isWhole = parsed.sha256 === checksum(JSON.stringify(parsed.content));
  return isWhole ? parsed.content : undefined;
}

function checksum(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, CHECKSUM_LENGTH);
}

/** Returns the settlement; undefined when a field is invalid despite a correct checksum. */
function readSettlement(value: JsonObject): JournalledSettlement | undefined {
  try {
    const charge = readCharge(value.charge);
    return {
      charge,
      hadHold: value.hadHold === true,
      log: {
        requestId: readId(value.requestId),
        tenantId: readId(value.tenantId),
        apiKeyId: readId(value.apiKeyId),
        endpoint: readText(value.endpoint),
        model: readText(value.model),
        provider: readText(value.provider),
        outcome: readOne(OUTCOMES, value.outcome),
        errorType: readTextOrNull(value.errorType),
        finishReason: readTextOrNull(value.finishReason),
        trafficMode: readOne(TRAFFIC_MODES, value.trafficMode),
        usage: readUsage(value.usage, value.otherUsage),
        usageSource: readOne(USAGE_SOURCES, value.usageSource),
        billingNote: readTextOrNull(value.billingNote),
        streamed: value.streamed === true,
        flagged: value.flagged === true,
        latencyMs: readNumber(value.latencyMs),
        generationTimeMs: readNumber(value.generationTimeMs),
        // Absent from lines of older versions, which must not cost the charge.
        firstTokenMs: numberOrUndefined(value.firstTokenMs),
        vendorCost: numberOrUndefined(value.vendorCost) ?? 0,
        vendorStartedMs: numberOrUndefined(value.vendorStartedMs),
        attempts: readAttempts(value.attempts),
        endUser: typeof value.endUser === 'string' ? value.endUser : undefined,
        tags: readTags({}, value.tags),
        requestOptions: readRequestOptions(value.asked),
        configVersion: numberOrUndefined(value.configVersion),
        createdAt: new Date(readNumber(Date.parse(readText(value.createdAt)))),
        billedBy: readPrices(value.priceSheet),
        maxCost: numberOrUndefined(value.maxCost),
      },
    };
  } catch {
    return undefined;
  }
}

const OUTCOMES: readonly RequestOutcome[] = [
  'completed',
  'failed',
  'cancelled',
  'timeout',
  'refused',
];
const TRAFFIC_MODES = ['shared', 'byok'] as const;
const USAGE_SOURCES = ['upstream', 'estimated', 'none'] as const;

/** Replaces figures that are not finite, so that the charge is not lost. */
function finite(value: number): number {
  return Number.isFinite(value) ? value : 0;
}

function readOne<Name extends string>(names: readonly Name[], value: unknown): Name {
  const known = names.find((name) => name === value);
  if (known === undefined) throw new TypeError(`unknown name: ${String(value)}`);
  return known;
}

function readText(value: unknown): string {
  if (typeof value === 'string') return value;
  throw new TypeError('not a string');
}

function readTextOrNull(value: unknown): string | null {
  return value === null ? null : readText(value);
}

function readId(value: unknown): string {
  const id = readText(value);
  if (isUuid(id)) return id;
  throw new TypeError('not a UUID');
}

function readNumber(value: unknown): number {
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  throw new TypeError('not a number');
}

function numberOrUndefined(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}

function readAttempts(value: unknown): LoggedAttempt[] | undefined {
  if (!Array.isArray(value)) return undefined;
  try {
    return value.filter(isJsonObject).map((attempt) => ({
      route: readText(attempt.route),
      ...(attempt.account !== undefined && { account: readText(attempt.account) }),
      ...(isJsonObject(attempt.scope) && {
        scope: keyScope(readText(attempt.scope.api_key_id)),
      }),
      outcome: readText(attempt.outcome),
      status: numberOrUndefined(attempt.status) ?? null,
      started_ms: readNumber(attempt.started_ms),
      duration_ms: readNumber(attempt.duration_ms),
      ...(attempt.continues_at !== undefined && { continues_at: readNumber(attempt.continues_at) }),
      ...(attempt.hedged === true && { hedged: true }),
      vendor_cost: readNumber(attempt.vendor_cost),
    }));
  } catch {
    return undefined;
  }
}

function readCharge(value: unknown): Charge {
  const parts: JsonObject = isJsonObject(value) ? value : {};
  const read = (part: unknown): number => {
    const credits = readNumber(part);
    if (isAmount(credits)) return credits;
    throw new TypeError('not an amount');
  };
  return {
    modelCharge: read(parts.modelCharge),
    byokPlatformFee: read(parts.byokPlatformFee),
    managedToolFee: read(parts.managedToolFee),
  };
}

/** Older versions wrote no prices; the charge is valid without them. */
function readPrices(value: unknown): PricesUsed | undefined {
  return typeof value === 'string' ? readPriceSnapshot(JSON.parse(value)) : undefined;
}

function readUsage(value: unknown, others: unknown): Usage {
  const counts: JsonObject = isJsonObject(value) ? value : {};
  return {
    ...NO_USAGE,
    ...readOtherUsage(typeof others === 'string' ? others : null),
    inputTokens: readNumber(counts.inputTokens),
    outputTokens: readNumber(counts.outputTokens),
    cacheReadTokens: readNumber(counts.cacheReadTokens),
    cacheWriteTokens: readNumber(counts.cacheWriteTokens),
    reasoningTokens: readNumber(counts.reasoningTokens),
  };
}
