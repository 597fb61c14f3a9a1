import { describe, expect, it } from '@jest/globals';
import type { CollectedWork } from '../../canonical/collect.js';
import type { EmbeddingVectors } from '../../canonical/work-request.js';
import { NO_USAGE } from '../../canonical/usage.js';
import { renderEmbeddings } from './embeddings.render.js';
import type { BillableRoute } from '../../canonical/billable-route.js';

const ONE = 'AACAPw==';

function work(vectors: EmbeddingVectors): CollectedWork<EmbeddingVectors> {
  return {
    route: { model: 'a/"vectors"' } as BillableRoute,
    droppedParams: [],
    outputs: [vectors],
    settled: {
      type: 'settled',
      cost: 1,
      usage: { ...NO_USAGE, inputTokens: 7 },
      usageSource: 'upstream',
    },
  };
}

describe(renderEmbeddings.name, () => {
  it.each<['float' | 'base64', unknown]>([
    ['float', [1]],
    ['base64', ONE],
  ])('encodes vectors as %s, whatever the vendor returned', async (encoding, embedding) => {
    const body = await renderEmbeddings(work([[1], ONE]), encoding);
    expect(JSON.parse(body.toString())).toEqual({
      object: 'list',
      data: [
        { object: 'embedding', index: 0, embedding },
        { object: 'embedding', index: 1, embedding },
      ],
      model: 'a/"vectors"',
      usage: { prompt_tokens: 7, total_tokens: 7 },
    });
  });

  it('keeps the order of many vectors', async () => {
    const vectors = Array.from({ length: 200 }, (_, index) => [index]);
    const { data } = JSON.parse((await renderEmbeddings(work(vectors), 'float')).toString()) as {
      data: { index: number; embedding: number[] }[];
    };
    expect(data.map(({ index, embedding }) => [index, ...embedding])).toEqual(
      vectors.map(([value], index) => [index, value]),
    );
  });
});
