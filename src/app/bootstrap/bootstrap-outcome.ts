/** Keys made at this start. Shown once; only their hashes are stored. */
export interface FirstKeys {
  apiKey: string;
  managementKey: string;
}

/** Where this start's keys come from: what `describeFirstKeys` tells the operator. */
export type BootstrapOutcome =
  | { kind: 'created'; created: FirstKeys }
  | { kind: 'earlier' | 'environment' | 'file'; created: undefined };
