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
import { priceSnapshotOf, readPriceSheet } from './receipts/price-snapshot.js';

/** The layout of a line. A line of another one is not read. */
const VERSION = 1;
const CHECKSUM_LENGTH = 16;
/** Names of models come from callers; a log row without its texts is worth more than none. */
const MAX_TEXT = 500;

/** A settlement without its record: figures and names, never what was said or with which key. */
export interface JournalledSettlement {
  readonly log: RequestLogDraft;
  readonly charge: Charge;
  /** False for a request that was refused before credits were set aside. */
  readonly hadHold: boolean;
}

/** What a journal's text holds. */
export interface JournalText {
  readonly settlements: readonly JournalledSettlement[];
  /** Numbers of lines that are not as they were written, or missing, counted from 1. */
  readonly damagedLines: readonly number[];
  /** Whether its last line says that it is the last. */
  readonly isComplete: boolean;
}

/** One settlement as a line that says what it is and whether it is whole. */
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
      asked: log.asked,
      configVersion: log.configVersion ?? undefined,
      maxCost: log.maxCost,
      createdAt: log.createdAt.toISOString(),
      charge,
      hadHold,
    },
  });
}

/** The last line of a journal, after so many settlements. */
export function toJournalEnd(count: number): string {
  return toLine({ end: count });
}

/** Reads a journal as far as it can be read: a process may have died while it wrote its last line. */
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
  // Who wrote it has died between two lines.
  if (!isComplete && damagedLines.at(-1) !== lines.length) damagedLines.push(lines.length + 1);
  return { settlements, damagedLines, isComplete };
}

function toLine(content: object): string {
  const text = JSON.stringify(content);
  return `{"v":${VERSION},"sha256":"${checksum(text)}","content":${text}}\n`;
}

/** Undefined: it is not what was written. */
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

/** Undefined: this program did not write it, whatever its checksum says. */
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
        // Lines of older versions have none of these, and no charge is lost for want of them.
        firstTokenMs: numberOrUndefined(value.firstTokenMs),
        vendorCost: numberOrUndefined(value.vendorCost) ?? 0,
        vendorStartedMs: numberOrUndefined(value.vendorStartedMs),
        attempts: readAttempts(value.attempts),
        endUser: typeof value.endUser === 'string' ? value.endUser : undefined,
        tags: readTags({}, value.tags),
        asked: readRequestOptions(value.asked),
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

/** A figure that is none must not cost the charge. */
function finite(value: number): number {
  return Number.isFinite(value) ? value : 0;
}

function readOne<Name extends string>(names: readonly Name[], value: unknown): Name {
  const known = names.find((name) => name === value);
  if (known === undefined) throw new TypeError(`no such name: ${String(value)}`);
  return known;
}

function readText(value: unknown): string {
  if (typeof value === 'string') return value;
  throw new TypeError('no text');
}

function readTextOrNull(value: unknown): string | null {
  return value === null ? null : readText(value);
}

function readId(value: unknown): string {
  const id = readText(value);
  if (isUuid(id)) return id;
  throw new TypeError('no id');
}

function readNumber(value: unknown): number {
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  throw new TypeError('no number');
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
    throw new TypeError('no amount');
  };
  return {
    modelCharge: read(parts.modelCharge),
    byokPlatformFee: read(parts.byokPlatformFee),
    managedToolFee: read(parts.managedToolFee),
  };
}

/** Of a version before there is none; the charge stands without it. */
function readPrices(value: unknown): PricesUsed | undefined {
  return typeof value === 'string' ? readPriceSheet(JSON.parse(value)) : undefined;
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
