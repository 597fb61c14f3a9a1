/** An OpenAPI description as far as tests read it. */
export interface ApiDescription<Operation extends object = object> {
  openapi: string;
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, object>; securitySchemes: Record<string, object> };
}

/** The paths with the aliases, which the description names beside the path that it shows. */
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
