import type { ContractBench } from './contract-bench.js';
import type { ContractVendor } from './contract-vendor.js';

/** One requirement for every adapter. */
export interface ContractCase {
  name: string;
  /** Set if the requirement applies to one kind of answer only. */
  only?: 'whole' | 'streamed';
  /** True when the situation can occur at a vendor; by default it can. */
  appliesTo?: (vendor: ContractVendor) => boolean;
  /** Takes longer than the usual time limit of a test. */
  timeoutMs?: number;
  run(bench: ContractBench, streamed: boolean): Promise<void>;
}
