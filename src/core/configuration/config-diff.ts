import { canonicalJson } from '../catalogue/canonical-json.js';
import { isJsonObject } from '../../platform/http/json-body.js';
import type { ConfigDocument } from './config-document.js';

/** A value that differs. `before` is absent for an addition, `after` for a removal. */
export interface ConfigChange {
  /** Path such as `models/openai/gpt-4o-mini/pricing/prompt`, with the ids of rows and providers. */
  readonly path: string;
  readonly before?: unknown;
  readonly after?: unknown;
}

/** Returns the differences between two documents, sorted by path. */
export function diffOf(before: ConfigDocument, after: ConfigDocument): ConfigChange[] {
  const changes: ConfigChange[] = [];
  compare('', byIds(before), byIds(after), changes);
  return changes.sort((one, other) => (one.path < other.path ? -1 : 1));
}

/** Formats a difference as one line. */
export function describeChange({ path, before, after }: ConfigChange): string {
  if (before === undefined) return `+ ${path} = ${JSON.stringify(after)}`;
  if (after === undefined) return `- ${path} = ${JSON.stringify(before)}`;
  return `~ ${path}: ${JSON.stringify(before)} -> ${JSON.stringify(after)}`;
}

function byIds({ models, providers, settings }: ConfigDocument): object {
  const index = (rows: readonly object[]): object =>
    Object.fromEntries(rows.map((row) => [isJsonObject(row) ? String(row.id) : '', row]));
  return { models: index(models), providers: index(providers), settings };
}

function compare(path: string, before: unknown, after: unknown, changes: ConfigChange[]): void {
  if (canonicalJson(before) === canonicalJson(after)) return;
  if (isJsonObject(before) && isJsonObject(after)) {
    for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
      compare(path === '' ? name : `${path}/${name}`, before[name], after[name], changes);
    }
    return;
  }
  changes.push({
    path,
    ...(before !== undefined && { before }),
    ...(after !== undefined && { after }),
  });
}
