import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import { toStoredText } from '../../platform/database/stored-text.js';

const MS_PER_DAY = 86_400_000;
const DAYS = 7;
/** Fewer say little. */
const LEAST_ANSWERS = 10;
const KEPT_MS = 300_000;
const MAX_KEPT = 10_000;

interface Known {
  /** Undefined: too few answers. */
  readonly tokens: number | undefined;
  readonly untilMs: number;
}

interface UsualRow {
  model: string;
  tokens: number;
}

/** How long a tenant's answers of a model are, by the sums of its log over the last week; known for five minutes. */
@Injectable()
export class UsualOutput {
  private readonly known = new Map<string, Known>();

  constructor(private readonly database: Database) {}

  /** Tokens of a request's answers, by alias; one of which little is known is left out. */
  async of(tenantId: string, models: readonly string[]): Promise<Map<string, number>> {
    const nowMs = performance.now();
    const keyOf = (model: string): string => `${tenantId} ${model}`;
    const asked = models.filter((model) => (this.known.get(keyOf(model))?.untilMs ?? 0) <= nowMs);
    if (asked.length > 0) {
      const found = await this.read(tenantId, asked);
      if (this.known.size + asked.length > MAX_KEPT) this.known.clear();
      const untilMs = nowMs + KEPT_MS;
      for (const model of asked)
        this.known.set(keyOf(model), { tokens: found.get(model), untilMs });
    }
    const usual = new Map<string, number>();
    for (const model of models) {
      const tokens = this.known.get(keyOf(model))?.tokens;
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
      [tenantId, [...stored.keys()], new Date(Date.now() - DAYS * MS_PER_DAY), LEAST_ANSWERS],
    );
    return new Map(rows.map(({ model, tokens }) => [stored.get(model) ?? model, tokens]));
  }
}
