"""Programs for those who connect an ERP or a shop: copy what you need."""
