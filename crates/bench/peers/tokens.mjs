// Counts tokens: reads a JSON array of texts and prints a JSON array of numbers.
import { createRequire } from "node:module";
import { text } from "node:stream/consumers";

// The tokenizer is installed in the test environment, not next to this file.
const require = createRequire(`${process.argv[2]}/`);
const { countTokens } = require("gpt-tokenizer/encoding/o200k_base");

const texts = JSON.parse(await text(process.stdin));
// Text that looks like a special token is counted as text.
const options = { disallowedSpecial: new Set() };
console.log(JSON.stringify(texts.map((one) => countTokens(one, options))));
