"""Reports in standard formats: JUnit, SARIF, Markdown."""
