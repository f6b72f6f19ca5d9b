// A BullMQ worker: jobs run as promises; completed jobs are removed, their results are in the events.
import { mkdirSync, openSync, writeSync } from "node:fs";
import { createRequire } from "node:module";

const { Worker } = createRequire(`${process.cwd()}/`)("bullmq");
const { BENCH_PEERS_SOCKET: path, BENCH_PEERS_RAN: ran } = process.env;

mkdirSync(ran, { recursive: true });
let record; // opened by the first job, so that only workers that work have a file

const worker = new Worker(
  "work",
  async (job) => {
    record ??= openSync(`${ran}/${process.pid}`, "a", 0o600);
    writeSync(record, `${job.data.n}\n`);
    return { answer: 3 * job.data.n + 1 };
  },
  { connection: { path, maxRetriesPerRequest: null }, concurrency: 256, removeOnComplete: { count: 0 } },
);

process.once("SIGTERM", async () => {
  await worker.close();
  process.exit(0);
});
