import type { ContractVendor } from '../contract-vendor.js';
import { azureVendor } from './azure.vendor.js';
import { openAiVendor } from './openai.vendor.js';

/** Every vendor that the contract suite is run with. */
export const ALL_VENDORS: readonly ContractVendor[] = [openAiVendor, azureVendor];
