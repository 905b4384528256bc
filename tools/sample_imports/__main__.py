"""Write the sample import files of `sample/imports`."""

import argparse
import sys
from collections.abc import Mapping
from datetime import date
from pathlib import Path

from tools.json_lines import json_lines
from tools.sample_imports import catalog, opening_stock, orders, purchases
from tools.sample_imports.master_data import ROOT
from tools.sample_imports.orders_with_errors import orders_with_errors
from tools.sample_imports.sheets import plain_csv, sheet, windows_csv, xlsx

FOLDER = ROOT / "sample" / "imports"

_ORDERS = orders.OrderSeries(count=300, first_number=8001, seed=7, first_day=date(2026, 11, 2))


def files() -> Mapping[str, bytes]:
    """Return the contents of the files by name."""
    products = catalog.products()
    product_sheet = sheet("products", "en", catalog.FIELDS, products)
    month = [row for order in orders.orders(_ORDERS, products) for row in order]
    exits = sheet("exit_documents", "en", orders.FIELDS, month)
    entries = sheet("entry_documents", "es", purchases.FIELDS, purchases.purchases(products))
    stock = sheet("stock_counts", "en", opening_stock.FIELDS, opening_stock.opening_stock(products))
    with_errors, expected_errors = orders_with_errors(products)
    return {
        "products.xlsx": xlsx(product_sheet),
        "products.csv": plain_csv(product_sheet),
        "orders.xlsx": xlsx(exits),
        "orders.csv": plain_csv(exits),
        "opening-stock.csv": plain_csv(stock),
        "purchases-windows-1252.csv": windows_csv(entries),
        "orders-with-errors.csv": plain_csv(with_errors),
        "expected-errors.json": (json_lines(expected_errors) + "\n").encode(),
    }


def main() -> int:
    """Write the files."""
    parser = argparse.ArgumentParser(prog="python -m tools.sample_imports", description=__doc__)
    parser.add_argument(
        "--folder", type=Path, default=FOLDER, help="target folder (default: %(default)s)"
    )
    folder: Path = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files().items():
        (folder / name).write_bytes(content)
        print(f"{folder / name}: {len(content)} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
