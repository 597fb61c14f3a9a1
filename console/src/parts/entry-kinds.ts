/** The kinds of ledger entries. */
export const ENTRY_KINDS = ['grant', 'correction', 'charge', 'shortfall', 'refund'] as const;
