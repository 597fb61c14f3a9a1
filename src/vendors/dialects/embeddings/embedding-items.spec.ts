import { describe, expect, it } from '@jest/globals';
import { embeddingRequest } from '../../../../test/support/embedding-requests.js';
import { droppedEmbeddingFields } from './embedding-items.js';

describe(droppedEmbeddingFields.name, () => {
  it('lists the fields that the vendor does not get', () => {
    const request = embeddingRequest({
      user: 'ann',
      dimensions: 5,
      encoding_format: 'float',
      provider: {},
      task_type: 'query',
      unset: null,
      'a\r\nset-cookie: b': 1,
    });
    expect(droppedEmbeddingFields(request, ['dimensions'])).toEqual([
      'user',
      'task_type',
      'unknown',
    ]);
  });
});
