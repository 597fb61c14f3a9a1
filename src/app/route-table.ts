import type { INestApplication } from '@nestjs/common';
import type { Express } from 'express';

interface RouterLayer {
  match(path: string): boolean;
  route?: { methods: Record<string, boolean> };
}

/** Which methods a path takes, so that a wrong method is told apart from an unknown path. */
export class RouteTable {
  private layers: RouterLayer[] = [];

  /** Reads the routes of an application that has been initialised. */
  learn(application: INestApplication): void {
    const express = application.getHttpAdapter().getInstance() as Express;
    const { stack } = express.router as unknown as { stack: RouterLayer[] };
    this.layers = stack.filter((layer) => layer.route !== undefined);
  }

  methodsOf(path: string): string[] {
    const methods = this.layers
      .filter((layer) => layer.match(path))
      .flatMap((layer) => Object.keys(layer.route?.methods ?? {}));
    return [...new Set(methods.map((method) => method.toUpperCase()))].sort();
  }
}
