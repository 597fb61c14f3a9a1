import { PageLimit } from '../../platform/http/cursor-page.js';
import {
  EnumField,
  HiddenField,
  SchemaField,
  StringField,
} from '../../platform/http/field.decorators.js';

/** Accepted because SDKs send it; there is nothing to include. */
export class IncludeQueryDto {
  @SchemaField({ type: [String] }, { optional: true, description: 'Ignored.' })
  include?: unknown;

  /** The list syntax that SDKs use. */
  @HiddenField()
  'include[]'?: unknown;
}

/** Query parameters that SDKs add to a retrieval. */
export class RetrieveResponseQueryDto extends IncludeQueryDto {
  @EnumField(['false'], {
    optional: true,
    description: 'Stored responses are not streamed.',
    message: 'must be false: stored responses are not streamed',
  })
  stream?: 'false';

  @SchemaField({ type: String }, { optional: true, description: 'Ignored.' })
  include_obfuscation?: unknown;
}

const DEFAULT_LIMIT = 20;

const MAX_LIMIT = 100;

/** Page of input items. */
export class InputItemsQueryDto extends IncludeQueryDto {
  @PageLimit({ default: DEFAULT_LIMIT, maximum: MAX_LIMIT })
  limit: number = DEFAULT_LIMIT;

  @EnumField(['asc', 'desc'], { default: 'desc' })
  order: 'asc' | 'desc' = 'desc';

  @StringField({
    optional: true,
    description: 'Return items after this id.',
    message: 'must be one id',
  })
  after?: string;
}
