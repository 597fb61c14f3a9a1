/** The command cannot be done; the message is one line for the operator. Exit code 1. */
export class CommandError extends Error {}

/** The command was not written as it should be. Exit code 2. */
export class UsageError extends Error {}
