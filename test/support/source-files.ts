import { readdirSync, readFileSync } from 'node:fs';
import { join, posix, sep } from 'node:path';
import ts from 'typescript';

/** An import, export-from or `import()` of a relative path. */
export interface RelativeImport {
  /** Path of the imported file from the project's root, such as `src/features/chat/chat.parse.ts`. */
  target: string;
  isTypeOnly: boolean;
}

/** A source file with the facts that the layout rules need. */
export interface SourceFile {
  /** Path from the project's root, with forward slashes. */
  path: string;
  imports: RelativeImport[];
  /** Identifiers and short strings in its code, which code can depend on, unlike prose. */
  tokens: string[];
  readsEnvironment: boolean;
}

/** Reads every TypeScript file below `folder` except specs. */
export function readSourceFiles(folder: string): SourceFile[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.spec.ts'))
    .map((name) => join(folder, name))
    .sort()
    .map((path) => parseSourceFile(path.replaceAll(sep, '/'), readFileSync(path, 'utf8')));
}

export function parseSourceFile(path: string, text: string): SourceFile {
  const file: SourceFile = { path, imports: [], tokens: [], readsEnvironment: false };
  const visit = (node: ts.Node): void => {
    const found = importOf(node);
    if (found?.specifier.startsWith('.') === true) {
      const target = posix.join(posix.dirname(path), found.specifier).replace(/\.js$/, '.ts');
      file.imports.push({ target, isTypeOnly: found.isTypeOnly });
    }
    const isProcess = found?.specifier === 'process' || found?.specifier === 'node:process';
    if (isProcess || readsProcessEnv(node)) file.readsEnvironment = true;
    const token = tokenOf(node);
    if (token !== undefined) file.tokens.push(token);
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true));
  return file;
}

function importOf(node: ts.Node): { specifier: string; isTypeOnly: boolean } | undefined {
  if (ts.isImportDeclaration(node) && ts.isStringLiteral(node.moduleSpecifier)) {
    return {
      specifier: node.moduleSpecifier.text,
      isTypeOnly: node.importClause?.phaseModifier === ts.SyntaxKind.TypeKeyword,
    };
  }
  if (ts.isExportDeclaration(node) && node.moduleSpecifier) {
    const { text } = node.moduleSpecifier as ts.StringLiteral;
    return { specifier: text, isTypeOnly: node.isTypeOnly };
  }
  if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
    const [argument] = node.arguments;
    if (argument && ts.isStringLiteral(argument)) {
      return { specifier: argument.text, isTypeOnly: false };
    }
  }
  if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) {
    return { specifier: (node.argument.literal as ts.StringLiteral).text, isTypeOnly: true };
  }
  return undefined;
}

function readsProcessEnv(node: ts.Node): boolean {
  if (ts.isPropertyAccessExpression(node)) {
    return node.expression.getText() === 'process' && node.name.text === 'env';
  }
  if (ts.isElementAccessExpression(node)) return node.expression.getText() === 'process';
  return (
    ts.isVariableDeclaration(node) &&
    ts.isObjectBindingPattern(node.name) &&
    node.initializer?.getText() === 'process'
  );
}

/** Strings with a space are prose, and `example:` is documentation. */
function tokenOf(node: ts.Node): string | undefined {
  if (ts.isIdentifier(node)) return node.text;
  if (!ts.isStringLiteral(node) && !ts.isTemplateLiteralToken(node)) return undefined;
  if (/\s/.test(node.text)) return undefined;
  const { parent } = node;
  if (ts.isPropertyAssignment(parent) && parent.name.getText() === 'example') return undefined;
  return node.text;
}
