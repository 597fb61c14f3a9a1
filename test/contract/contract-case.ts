import type { ContractBench } from './contract-bench.js';
import type { ContractVendor } from './contract-vendor.js';

/** One demand on every adapter. */
export interface ContractCase {
  name: string;
  /** Where the demand makes sense for one kind of answer only. */
  only?: 'whole' | 'streamed';
  /** Whether a vendor is able to be in this situation; by default every one is. */
  appliesTo?: (vendor: ContractVendor) => boolean;
  /** Takes longer than the usual time limit of a test. */
  timeoutMs?: number;
  run(bench: ContractBench, streamed: boolean): Promise<void>;
}
