import type { ContractVendor } from '../contract-vendor.js';
import { anthropicVendor } from './anthropic.vendor.js';
import { azureVendor } from './azure.vendor.js';
import { bedrockVendor } from './bedrock.vendor.js';
import { openAiVendor } from './openai.vendor.js';
import { vertexClaudeVendor } from './vertex-claude.vendor.js';
import { VERTEX } from './vertex.vendor.js';

/** Every vendor in the contract suite. */
export const ALL_VENDORS: readonly ContractVendor[] = [
  openAiVendor,
  azureVendor,
  anthropicVendor,
  bedrockVendor,
  VERTEX,
  vertexClaudeVendor,
];
