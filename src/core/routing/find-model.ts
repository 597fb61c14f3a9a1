import { isTextRequest, type RoutableRequest } from '../../canonical/work-request.js';
import { InvalidRequestError, NotFoundError } from '../../platform/errors/gateway-errors.js';
import type { CatalogueService } from '../catalogue/catalogue.service.js';
import type { Model, ModelKind } from '../catalogue/catalogue.types.js';

/** What each kind of model is for, to end a sentence. */
export const PURPOSES: Record<ModelKind, string> = {
  chat: 'answer a chat',
  embedding: 'embed text',
  speech: 'speak a text',
  transcription: 'transcribe audio',
  image: 'make images',
  video: 'make videos',
};

/**
 * @param near ids that are most like an alias that is none
 * @throws NotFoundError for a model that is unknown, with the nearest that there are
 * @throws InvalidRequestError for one of another kind
 */
export function findModel(
  catalogue: Pick<CatalogueService, 'find'>,
  request: RoutableRequest,
  alias: string,
  near: (alias: string) => readonly string[] = () => [],
): Model {
  const param = request.body.value.model === alias ? 'model' : 'models';
  const model = catalogue.find(alias);
  if (!model) {
    const nearest = near(alias);
    throw new NotFoundError(
      param,
      `The model ${JSON.stringify(alias)} does not exist here; GET /v1/models lists those that do.` +
        (nearest.length === 0 ? '' : ` The nearest: ${nearest.join(', ')}.`),
    );
  }
  const kind = isTextRequest(request) ? 'chat' : request.kind;
  if (model.kind !== kind) {
    throw new InvalidRequestError(
      param,
      `${JSON.stringify(alias)} is a model for ${model.kind} and cannot ${PURPOSES[kind]}.`,
    );
  }
  return model;
}
