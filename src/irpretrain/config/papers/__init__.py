"""The papers that are rebuilt: a file of `resources/published` each, from which targets, tables and figures follow."""
