"""What more than one function needs: the subjects of the warehouse and the kernel under them."""
