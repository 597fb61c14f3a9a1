import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import { toStoredText } from '../../platform/database/stored-text.js';

const MS_PER_DAY = 86_400_000;
const DAYS = 7;
/** Fewer answers are not representative. */
const MIN_ANSWERS = 10;
const CACHE_MS = 300_000;
const MAX_CACHED = 10_000;

interface CachedLength {
  /** Undefined: too few answers. */
  readonly tokens: number | undefined;
  readonly untilMs: number;
}

interface UsualRow {
  model: string;
  tokens: number;
}

/** Average length of a tenant's answers by model, from its log of the last week. Cached for five minutes. */
@Injectable()
export class UsualOutput {
  private readonly cached = new Map<string, CachedLength>();

  constructor(private readonly database: Database) {}

  /** Returns the average tokens of an answer by alias; models with too few answers are omitted. */
  async of(tenantId: string, models: readonly string[]): Promise<Map<string, number>> {
    const nowMs = performance.now();
    const keyOf = (model: string): string => `${tenantId} ${model}`;
    const missing = models.filter(
      (model) => (this.cached.get(keyOf(model))?.untilMs ?? 0) <= nowMs,
    );
    if (missing.length > 0) {
      const found = await this.read(tenantId, missing);
      if (this.cached.size + missing.length > MAX_CACHED) this.cached.clear();
      const untilMs = nowMs + CACHE_MS;
      for (const model of missing)
        this.cached.set(keyOf(model), { tokens: found.get(model), untilMs });
    }
    const usual = new Map<string, number>();
    for (const model of models) {
      const tokens = this.cached.get(keyOf(model))?.tokens;
      if (tokens !== undefined) usual.set(model, tokens);
    }
    return usual;
  }

  private async read(tenantId: string, models: readonly string[]): Promise<Map<string, number>> {
    const stored = new Map(models.map((model) => [toStoredText(model), model]));
    const { rows } = await this.database.query<UsualRow>(
      `SELECT value AS model,
         (sum(completion_tokens) / sum(requests - errors))::float8 AS tokens
       FROM request_log_roll_ups
       WHERE tenant_id = $1 AND dimension = 'model' AND grain = 'day' AND period >= $3
         AND md5(value) IN (SELECT md5(name) FROM unnest($2::text[]) AS name)
       GROUP BY value HAVING sum(requests - errors) >= $4`,
      [tenantId, [...stored.keys()], new Date(Date.now() - DAYS * MS_PER_DAY), MIN_ANSWERS],
    );
    return new Map(rows.map(({ model, tokens }) => [stored.get(model) ?? model, tokens]));
  }
}
