"""Names that the stored JSON of entities often has, to which compressed data refers.

Data names its dictionary by a checksum, and can be read with nothing else. So this one never
changes; another one would stand beside it, and be written from a later version of the schema on.
"""

DICTIONARY_SINCE = 4
"""Version of the schema from which on entities are written with the dictionary; releases that do
not know it refuse tables of this version."""

DICTIONARY = (
    b'{"exit_document_id":,"document_type":","shipping":{"sender":","recipient":","address":'
    b'"strategy":"released_at":","metrics":{"orders":,"lines":,"units":,"trips":,"ended_orders":'
    b'"origin":{"id":,"code":","name":"},"destination":{"id":,"code":","picking_id":'
    b'"restocked_qty":,"scrapped_qty":,"goods":[{"received_at":"2026-'
    b'"packed_qty":,"serials":[","contents":,"weight_kg":,"parent_id":'
    b'"picked_qty":,"dispatched_qty":,"received_qty":,"transit":[{"qty":'
    b'"due_date":"2026-","comments":","priority":2,"address":{"street":","postal_code":","country":"'
    b'"ship_to_address":{"name":","line1":","city":","carrier_code":","service_code":"'
    b'"metadata":{"notes":","operator":{"id":,"name":","unit":","unit_qty":,"product_name":"'
    b'"status":"partial-complete","status":"received","status":"completed","status":"closed"'
    b'"batch_num":","serial":","serial_number":","expiry_date":"2027-'
    b'"type":"purchase_order","doc_num":"EN-"announced":"document_lines":{"1":,"stock_ids":['
    b'"id":,"type":"sale_order","external_ref":","source":"api","status":"open","card_code":","'
    b'card_name":","doc_date":"2026-","works":["finished":["dispatched_works":["named":{"product":['
    b'],"warehouse":[1],"position":[]},"qty":,"line_num":,"external_ref":","product_id":,"item_code":"'
    b'","open_qty":0,"done_qty":,"status":"complete","dispatched_qty":'
    b'"uuid":","status":"started","status":"finalized","started_at":"2026-","finalized_at":"2026-","'
    b'created_at":"2026-","updated_at":"2026-","documents":[{"id":,"type":"sale_order","doc_num":"EX-'
    b'","card_code":","external_ref":"}],"whs_code":","warehouse_id":1,"lines":[{"document_id":,"'
    b'document_line":,"product_id":,"item_code":","qty":2,"allocations":[{"stock_id":,"position_id":'
    b',"bin_code":","qty":1}]},{"document_id":,"document_line":,"product_id":,"item_code":","qty":1,"'
    b'picked_qty":1,"status":"picked","picks":[{"staged_id":,"position_id":,"bin_code":","qty":1}]},'
)
