// The validation suite of LangGraph's checkpointers, for vitest: one home for all of its savers,
// as one process would have it.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { validate } from "@langchain/langgraph-checkpoint-validation";
import { BoswellSaver } from "boswell-store/langgraph";

const folder = mkdtempSync(join(tmpdir(), "boswell-langgraph-"));

validate({
  checkpointerName: "BoswellSaver",
  createCheckpointer: async () => new BoswellSaver(mkdtempSync(join(folder, "home-"))),
  afterAll: async () => rmSync(folder, { recursive: true, force: true }),
});
