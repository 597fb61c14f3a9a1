import type { UpstreamResponse } from '../transport/upstream-response.js';
import { unreadable } from '../upstream-error.js';
import type { ProbeCall } from '../upstream.js';
import { isJsonObject, type JsonObject } from '../../platform/http/json-body.js';
import { listOf, parseAnswerJson } from './answer-json.js';

/** No vendor's list of models comes near. */
const MAX_BYTES = 8_000_000;

/**
 * What a probe's good answer says.
 *
 * @param member of the answer that is the list of models; undefined: it is about something else
 * @returns how many models there are in it, where the probe has it read
 * @throws UpstreamError `unreadable` for an answer that is none
 */
export async function listedModels(
  response: UpstreamResponse,
  call: ProbeCall,
  member: string | undefined,
): Promise<number | undefined> {
  return (await readList(response, call, member))?.length;
}

/**
 * The same with the models' ids.
 *
 * @param idOf a model's id, as routes name it; what has none is left out
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

/** Of compatible servers some only have the name. */
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
  // Of compatible servers some give the bare list, some another name to it.
  if (member !== undefined && Array.isArray(answer) && answer.some(isJsonObject)) {
    return listOf(answer);
  }
  if (!isJsonObject(answer)) throw unreadable('an answer to a probe that is no JSON object');
  if (member === undefined) return undefined;
  const list = answer[member] ?? answer.models;
  if (Array.isArray(list)) return listOf(list);
  throw unreadable(`an answer to a probe without ${member}`, response.status);
}
