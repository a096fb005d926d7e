// `append.mjs HOME`: durable appends from Node, for `bench.py`.
//
// Each line of standard input is `one N` (awaited one by one) or `together N` (awaited together);
// the answer is a line with the seconds of each, or of all.

import { createInterface } from "node:readline";

import { Store } from "boswell-store";

const user = { role: "user", content: "x".repeat(1000) };
const writer = await (await Store.open(process.argv[2])).create({ project: "/bench" });
const now = () => performance.now() / 1000;

const TASKS = {
  async one(count) {
    const seconds = [];
    for (let at = 0; at < count; at += 1) {
      const began = now();
      await writer.append(user);
      seconds.push(now() - began);
    }
    return seconds;
  },
  async together(count) {
    const began = now();
    await Promise.all(Array.from({ length: count }, () => writer.append(user)));
    return [now() - began];
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  const [task, count] = line.split(" ");
  console.log((await TASKS[task](Number(count))).join(" "));
}
