/** Our account or our catalogue is at fault, also where a model was taken away (410). */
const OPERATOR_STATUSES: ReadonlySet<number> = new Set([401, 402, 403, 404, 410]);

/** Like a 5xx: a conflict, an early repetition (425), and Groq's word for being full (498). */
const SERVER_STATUSES: ReadonlySet<number> = new Set([409, 425, 498]);

/** Whether a vendor's status says that the operator has something to mend, whatever the body says. */
export function isOperatorStatus(status: number): boolean {
  return OPERATOR_STATUSES.has(status);
}

/** Whether a vendor's status says that the vendor failed, time-outs apart. */
export function isServerStatus(status: number): boolean {
  return status >= 500 || SERVER_STATUSES.has(status);
}
