import { isJsonObject, type JsonObject } from '../../platform/http/json-body.js';
import { isCount, listOf, objectOf, objectsOf } from '../dialects/answer-json.js';
import type { ServedModel } from '../upstream.js';
import type { LocalServer } from './preset.js';

/**
 * Calls a local server and returns its answer as an object. The path is relative to the server; `models` is
 * the list of the common API.
 */
export type AskServer = (path: string, body?: JsonObject) => Promise<JsonObject>;

/** Limit on calls for single models. */
const MAX_SHOWN = 200;

/**
 * Returns the models of a self-hosted server, with their context length where reported.
 *
 * @param shown earlier details by model id, which are not requested again
 * @throws UpstreamError when the server does not list its models
 */
export async function readServedModels(
  server: LocalServer,
  ask: AskServer,
  shown: Map<string, ServedModel>,
): Promise<ServedModel[]> {
  if (server === 'lmstudio') {
    const own = await ask('/api/v0/models').catch(() => undefined);
    if (own) return objectsOf(own.data).flatMap(lmStudioModel);
  }
  const models = objectsOf((await ask('models')).data).flatMap(commonModel);
  switch (server) {
    case 'ollama':
      for (const { id } of models.slice(0, MAX_SHOWN)) {
        if (shown.has(id)) continue;
        // A model without details is listed anyway.
        const answer = await ask('/api/show', { model: id }).catch(() => undefined);
        if (answer) shown.set(id, shownModel(id, answer));
      }
      return models.map((model) => shown.get(model.id) ?? model);
    case 'llamacpp': {
      const props = await ask('/props').catch(() => undefined);
      const { n_ctx: contextLength } = objectOf(props?.default_generation_settings);
      return models.map((model) => ({ ...model, ...lengthOf(contextLength) }));
    }
    default:
      return models;
  }
}

/** Reads the common list, to which some servers add the context length under different names. */
function commonModel({ id, max_model_len: length, meta }: JsonObject): ServedModel[] {
  if (typeof id !== 'string' || id === '') return [];
  return [{ id, kind: 'chat', ...lengthOf(length ?? objectOf(meta).n_ctx_train) }];
}

function shownModel(id: string, { model_info: info, capabilities }: JsonObject): ServedModel {
  const can = listOf(capabilities);
  const isEmbedder = can.includes('embedding') && !can.includes('completion');
  const named = Object.entries(isJsonObject(info) ? info : {});
  const length = named.find(([key]) => key.endsWith('.context_length'))?.[1];
  return { id, kind: isEmbedder ? 'embedding' : 'chat', ...lengthOf(length) };
}

function lmStudioModel({
  id,
  type,
  loaded_context_length: loaded,
  max_context_length: most,
}: JsonObject): ServedModel[] {
  if (typeof id !== 'string' || id === '') return [];
  return [{ id, kind: type === 'embeddings' ? 'embedding' : 'chat', ...lengthOf(loaded ?? most) }];
}

function lengthOf(value: unknown): { contextLength?: number } {
  return isCount(value) && value > 0 ? { contextLength: value } : {};
}
