import type { UpstreamResponse } from '../transport/upstream-response.js';
import { unreadable } from '../upstream-error.js';
import type { ProbeCall } from '../upstream.js';
import { isJsonObject, type JsonObject } from '../../platform/http/json-body.js';
import { listOf, parseAnswerJson } from './answer-json.js';

/** Larger than any vendor's model list. */
const MAX_BYTES = 8_000_000;

/**
 * Reads a probe's successful answer.
 *
 * @param member the field that contains the model list; undefined: the answer is about something else
 * @returns the number of models, when the probe reads the answer
 * @throws UpstreamError `unreadable` for an invalid answer
 */
export async function listedModels(
  response: UpstreamResponse,
  call: ProbeCall,
  member: string | undefined,
): Promise<number | undefined> {
  return (await readList(response, call, member))?.length;
}

/**
 * Like `listedModels`, but returns the model ids.
 *
 * @param idOf returns a model's id as routes name it; models without one are skipped
 */
export async function listedModelIds(
  response: UpstreamResponse,
  call: ProbeCall,
  member: string,
  idOf: (model: JsonObject) => unknown = commonId,
): Promise<readonly string[] | undefined> {
  const list = await readList(response, call, member);
  return list?.map((model) => (isJsonObject(model) ? idOf(model) : model)).filter(isId);
}

/** Some compatible servers have only `name`. */
function commonId({ id, name }: JsonObject): unknown {
  return id ?? name;
}

function isId(id: unknown): id is string {
  return typeof id === 'string' && id !== '';
}

async function readList(
  response: UpstreamResponse,
  { readsAnswer = false }: ProbeCall,
  member: string | undefined,
): Promise<readonly unknown[] | undefined> {
  if (!readsAnswer) {
    response.drain();
    return undefined;
  }
  const text = (await response.readAll(MAX_BYTES)).toString('utf8');
  const answer = parseAnswerJson(text, 'an answer to a probe');
  // Some compatible servers return a bare list, or use another name for it.
  if (member !== undefined && Array.isArray(answer) && answer.some(isJsonObject)) {
    return listOf(answer);
  }
  if (!isJsonObject(answer)) throw unreadable('an answer to a probe that is no JSON object');
  if (member === undefined) return undefined;
  const list = answer[member] ?? answer.models;
  if (Array.isArray(list)) return listOf(list);
  throw unreadable(`an answer to a probe without ${member}`, response.status);
}
