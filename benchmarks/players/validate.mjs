// What the validator of the Khronos Group says of the files named, as JSON.
import fs from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";

const [folder, ...files] = process.argv.slice(2);
const validator = createRequire(path.join(folder, "package.json"))("gltf-validator");
const found = [];
for (const file of files) {
  const report = await validator.validateBytes(new Uint8Array(fs.readFileSync(file)), { maxIssues: 100 });
  found.push({ file, ...report.issues });
}
console.log(JSON.stringify(found));
