"""The tools of agents: one route, `POST /mcp`, that speaks the Model Context Protocol (MCP).

The tools call the operations of these routes in the same process. A tool reaches only what it
declares.
"""

from functions.mcp.handler import AgentHandler
from shared.http.routes import DeferredRoutes

lambda_handler = AgentHandler(
    DeferredRoutes("functions.catalog.app", ("/products",)),
    DeferredRoutes("functions.documents.app", ("/entry-documents", "/exit-documents")),
    DeferredRoutes("functions.stock.app", ("/stocks", "/stock-levels", "/stock-movements")),
    DeferredRoutes("functions.stock.adjustments", ("/stock-adjustments",)),
    DeferredRoutes("functions.work.receipts", ("/receipts",)),
    DeferredRoutes("functions.work.pickings", ("/pickings",)),
    DeferredRoutes("functions.work.approvals", ("/approvals",)),
)
