// Counts the tokens of texts: a JSON array of texts in, a JSON array of numbers out.
import { createRequire } from "node:module";
import { text } from "node:stream/consumers";

// The tokenizer lies in the test environment, not beside this file.
const require = createRequire(`${process.argv[2]}/`);
const { countTokens } = require("gpt-tokenizer/encoding/o200k_base");

const texts = JSON.parse(await text(process.stdin));
// A text that looks like a special token is text all the same.
const options = { disallowedSpecial: new Set() };
console.log(JSON.stringify(texts.map((one) => countTokens(one, options))));
