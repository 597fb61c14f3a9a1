/** The parts of an OpenAPI description that tests read. */
export interface ApiDescription<Operation extends object = object> {
  openapi: string;
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, object>; securitySchemes: Record<string, object> };
}

/** Returns all paths, including the aliases that the description lists on the documented path. */
export function withAliases<Operation extends object>({
  paths,
}: ApiDescription<Operation>): ApiDescription<Operation>['paths'] {
  const all: ApiDescription<Operation>['paths'] = {};
  for (const [path, operations] of Object.entries(paths)) {
    for (const [method, operation] of Object.entries(operations)) {
      const { 'x-aliases': aliases = [] } = operation as { 'x-aliases'?: string[] };
      for (const one of [path, ...aliases]) all[one] = { ...all[one], [method]: operation };
    }
  }
  return all;
}
