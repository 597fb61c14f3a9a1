import { isTextRequest, type RoutableRequest } from '../../canonical/work-request.js';
import { InvalidRequestError, NotFoundError } from '../../platform/errors/gateway-errors.js';
import type { CatalogueService } from '../catalogue/catalogue.service.js';
import type { Model, ModelKind } from '../catalogue/catalogue.types.js';

/** Ends a sentence such as "cannot …". */
export const PURPOSES: Record<ModelKind, string> = {
  chat: 'answer a chat',
  embedding: 'embed text',
  speech: 'generate speech',
  transcription: 'transcribe audio',
  image: 'generate images',
  video: 'generate videos',
};

/**
 * Finds the model of an alias.
 *
 * @param near returns the ids most similar to an unknown alias
 * @throws NotFoundError for an unknown model, with similar ids
 * @throws InvalidRequestError for a model of another kind
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
      `The model ${JSON.stringify(alias)} does not exist. See GET /v1/models.` +
        (nearest.length === 0 ? '' : ` Did you mean  ${nearest.join(' or ')}?`),
    );
  }
  const kind = isTextRequest(request) ? 'chat' : request.kind;
  if (model.kind !== kind) {
    throw new InvalidRequestError(
      param,
      `${JSON.stringify(alias)} is a ${model.kind} model and cannot ${PURPOSES[kind]}.`,
    );
  }
  return model;
}
