"""From the parsed program and its directives to the IR: names bound to variables, conversions made explicit."""
