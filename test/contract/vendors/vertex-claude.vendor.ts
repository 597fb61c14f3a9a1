import { VertexAdapter } from '../../../src/vendors/vertex/vertex.adapter.js';
import type { ContractVendor } from '../contract-vendor.js';
import { anthropicVendor } from './anthropic.vendor.js';
import { VERTEX } from './vertex.vendor.js';

/** Claude on Google Vertex AI: Anthropic's dialect with Google's address and credentials. */
export const vertexClaudeVendor: ContractVendor = {
  ...anthropicVendor,
  name: 'vertex-claude',
  provider: VERTEX.provider!,
  upstreamModel: 'claude-sonnet-4-5@20250929',
  createAdapter: (origin, { transport }) =>
    new VertexAdapter(
      {
        id: 'vertex',
        name: 'Google Vertex AI',
        adapter: 'vertex',
        type: 'gcp',
        baseUrl: origin,
        apiKey: 'vertex-contract-token',
        settings: { project: 'my-project', location: 'global' },
      },
      transport,
    ),
};
