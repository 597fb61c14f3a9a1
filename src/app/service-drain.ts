import type { Server } from 'node:http';
import { Inject, Injectable, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { HttpAdapterHost, type AbstractHttpAdapter } from '@nestjs/core';
import { APP_CONFIG, type AppConfig } from '../platform/config/app-config.js';
import { ServerDrain } from '../platform/http/server-drain.js';
import { IdleMemory } from './process/idle-memory.js';
import { WorkQueue } from '../platform/queue/work-queue.js';

/**
 * Lets requests and background work end, up to the drain limit, before anything else stops: it stands
 * in the root module, whose hooks Nest calls first. Then each part stops before those that it needs:
 * on `onModuleDestroy` who makes settlements and traces, on `beforeApplicationShutdown` who writes
 * them down or sends them, on `onApplicationShutdown` who holds connections.
 */
@Injectable()
export class ServiceDrain implements OnModuleInit, OnModuleDestroy {
  private server: ServerDrain | undefined;
  private memory: IdleMemory | undefined;

  constructor(
    private readonly host: HttpAdapterHost<AbstractHttpAdapter<Server>>,
    private readonly queue: WorkQueue,
    @Inject(APP_CONFIG) private readonly config: AppConfig,
  ) {}

  onModuleInit(): void {
    const server = this.host.httpAdapter.getHttpServer();
    this.server = new ServerDrain(server);
    this.memory = new IdleMemory(server);
  }

  async onModuleDestroy(): Promise<void> {
    this.memory?.stop();
    const limitMs = this.config.drainSeconds * 1_000;
    await Promise.all([this.server?.drain(limitMs), this.queue.stop(limitMs)]);
  }
}
