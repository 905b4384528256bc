"""The error report of an import: a workbook with every rejected row and the reasons."""
