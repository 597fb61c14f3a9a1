/** What moves a balance, as the ledger has it. */
export const ENTRY_KINDS = ['grant', 'correction', 'charge', 'shortfall', 'refund'] as const;
