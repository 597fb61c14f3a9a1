import type { ContractVendor } from '../contract-vendor.js';
import { anthropicVendor } from './anthropic.vendor.js';
import { azureVendor } from './azure.vendor.js';
import { bedrockVendor } from './bedrock.vendor.js';
import { openAiVendor } from './openai.vendor.js';
import { vertexClaudeVendor } from './vertex-claude.vendor.js';
import { VERTEX } from './vertex.vendor.js';

/** Every vendor that the contract suite is run with. */
export const ALL_VENDORS: readonly ContractVendor[] = [
  openAiVendor,
  azureVendor,
  anthropicVendor,
  bedrockVendor,
  VERTEX,
  vertexClaudeVendor,
];
