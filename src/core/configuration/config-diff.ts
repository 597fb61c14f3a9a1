import { canonicalJson } from '../catalogue/canonical-json.js';
import { isJsonObject } from '../../platform/http/json-body.js';
import type { ConfigDocument } from './config-document.js';

/** One value that differs. Where there was nothing, `before` is not there; `after` likewise. */
export interface ConfigChange {
  /** As `models/openai/gpt-4o-mini/pricing/prompt`: rows and providers by their ids. */
  readonly path: string;
  readonly before?: unknown;
  readonly after?: unknown;
}

/** What has to change in one document to make it the other, sorted by path. */
export function diffOf(before: ConfigDocument, after: ConfigDocument): ConfigChange[] {
  const changes: ConfigChange[] = [];
  compare('', byIds(before), byIds(after), changes);
  return changes.sort((one, other) => (one.path < other.path ? -1 : 1));
}

/** One change as a line. */
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
