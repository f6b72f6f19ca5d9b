// The client's process for BullMQ. It obeys the orders that driving.py describes.
import { createRequire } from "node:module";
import { createInterface } from "node:readline";

const { Queue, QueueEvents } = createRequire(`${process.cwd()}/`)("bullmq");
const connection = { path: process.env.BENCH_PEERS_SOCKET, maxRetriesPerRequest: null };
const CHUNK = 1000;

const queue = new Queue("work", {
  connection,
  defaultJobOptions: { removeOnComplete: true },
  streams: { events: { maxLen: 100_000 } }, // so that no result is trimmed before it is read
});
const events = new QueueEvents("work", { connection });
const seen = new Map(); // job id -> result that nobody has waited for yet
const waiting = new Map(); // job id -> the function to call with its result
events.on("completed", ({ jobId, returnvalue }) => {
  const resolve = waiting.get(jobId);
  if (resolve === undefined) seen.set(jobId, returnvalue);
  else {
    waiting.delete(jobId);
    resolve(returnvalue);
  }
});
await events.waitUntilReady();

let numbered = 0;
const submitted = [];

function callsOf(tasks, tenants) {
  return Array.from({ length: tasks }, () => {
    const n = numbered++;
    return { tenant: `of-${tenants}-${String(n % tenants).padStart(5, "0")}`, n };
  });
}

async function submit(calls) {
  if (calls.length === 1) return [await queue.add("work", calls[0])];
  const jobs = [];
  for (let first = 0; first < calls.length; first += CHUNK) {
    jobs.push(...(await queue.addBulk(calls.slice(first, first + CHUNK).map((data) => ({ name: "work", data })))));
  }
  return jobs;
}

function resultOf({ id }) {
  if (!seen.has(id)) return new Promise((resolve) => waiting.set(id, resolve));
  const result = seen.get(id);
  seen.delete(id);
  return result;
}

function check(calls, results) {
  calls.forEach(({ n }, place) => {
    const { answer } = results[place];
    if (answer !== 3 * n + 1) throw new Error(`task ${n} has the result ${answer}, not ${3 * n + 1}`);
  });
}

async function run(calls) {
  const began = performance.now();
  const results = await Promise.all((await submit(calls)).map(resultOf));
  const ms = performance.now() - began;
  check(calls, results);
  return ms;
}

async function obey(order) {
  switch (order.do) {
    case "submit": {
      const calls = callsOf(order.tasks, order.tenants);
      submitted.push([calls, await submit(calls)]);
      return {};
    }
    case "collect":
      for (const [calls, jobs] of submitted.splice(0)) check(calls, await Promise.all(jobs.map(resultOf)));
      return {};
    case "load":
      return { seconds: (await run(callsOf(order.tasks, order.tenants))) / 1000 };
    case "trips": {
      const until = performance.now() + 1000 * order.limit_s;
      const ms = [];
      while (ms.length < order.count && (performance.now() < until || ms.length === 0)) ms.push(await run(callsOf(1, 1)));
      return { ms };
    }
    default:
      throw new Error(`no such order: ${JSON.stringify(order)}`);
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  try {
    console.log(JSON.stringify(await obey(JSON.parse(line))));
  } catch (error) {
    console.log(JSON.stringify({ error: String(error) }));
    process.exit(1);
  }
}
process.exit(0);
