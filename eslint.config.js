import js from "@eslint/js";
import globals from "globals";

export default [
  js.configs.recommended,
  {
    rules: {
      eqeqeq: "error",
      "no-implicit-coercion": ["error", { boolean: false }],
      "no-restricted-syntax": [
        "error",
        // What supple.web.bundle does not take, said where it is written.
        { selector: "ImportExpression", message: "pages are one file: import by name" },
        { selector: "ImportNamespaceSpecifier", message: "import by name" },
        { selector: "ImportDefaultSpecifier", message: "import by name" },
        { selector: "ExportDefaultDeclaration", message: "export by name" },
        { selector: "ExportAllDeclaration", message: "export by name" },
      ],
      "no-shadow": "error",
      "no-var": "error",
      "prefer-const": "error",
    },
  },
  { files: ["src/supple/web/**/*.js"], languageOptions: { globals: globals.browser } },
  {
    files: ["tests/web/**/*.js", "eslint.config.js"],
    languageOptions: { globals: globals.node },
    rules: { "no-restricted-syntax": "off" },
  },
];
